import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config';
import { version } from '../config/version';
import { MetricsService } from './metrics.service';

const LIMITS = { headersTimeout: 5000, requestTimeout: 5000, connectionsCheckingInterval: 1000, maxHeaderSize: 8192 };
const SILENT_MS = 10_000;
const MAX_CONNECTIONS = 50;

/** Serves only `GET /metrics`, on its own port, which need not be public. */
@Injectable()
export class MetricsServerService implements OnApplicationShutdown {
  private readonly logger = new Logger(MetricsServerService.name);
  private server: Server | null = null;

  constructor(
    private readonly config: Config,
    private readonly metrics: MetricsService,
  ) {}

  /** Opens `METRICS_PORT`, if it is set. Throws a readable error when it cannot. */
  async start(): Promise<void> {
    const { metricsPort, metricsHost, role } = this.config;
    if (metricsPort === null) return;
    this.metrics.watchProcess();
    this.metrics.info('webhooks_build_info', 'The version and the role of this process.', { version, role });
    this.server = createServer(LIMITS, (request, response) => void this.answer(request, response));
    this.server.maxConnections = MAX_CONNECTIONS;
    this.server.setTimeout(SILENT_MS);
    this.server.listen(metricsPort, metricsHost);
    try {
      await once(this.server, 'listening');
    } catch (error) {
      const { code = 'an error' } = error as NodeJS.ErrnoException;
      throw new Error(`METRICS_PORT ${metricsPort} cannot be opened on ${metricsHost}: ${code}.`, { cause: error });
    }
    this.server.on('error', (error) => this.logger.warn(`The metrics server failed: ${error.message}`));
    this.logger.log(`Metrics are at http://${metricsHost}:${metricsPort}/metrics.`);
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Some scrapers send parameters.
    if (request.method !== 'GET' || request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404, { connection: 'close' }).end();
      return;
    }
    try {
      const text = await this.metrics.text();
      response.writeHead(200, { 'content-type': this.metrics.contentType }).end(text);
    } catch (error) {
      this.logger.warn(`Writing the metrics failed; returning 500: ${String(error)}`);
      response.writeHead(500, { connection: 'close' }).end();
    }
  }
}
