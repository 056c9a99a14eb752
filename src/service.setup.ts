import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module';
import { ConsoleLinksService } from './console/sessions/console-links.service';
import { serveConsole } from './console/console-pages.setup';
import type { Config } from './infrastructure/config/config';
import { HealthService } from './infrastructure/health/health.service';
import { PinoLoggerService } from './infrastructure/http/logger.service';
import { createAdapter, stopAccepting } from './infrastructure/http/http-server.setup';
import { MetricsServerService } from './infrastructure/metrics/metrics-server.service';
import { serveDocs } from './docs.setup';
import { serveTryReceivers } from './console/test-receivers/test-receivers.setup';
import { TryReceiversService } from './console/test-receivers/test-receivers.service';
import { WorkerTasksService } from './infrastructure/queue/worker-tasks.service';
import { WorkersService } from './infrastructure/queue/workers.service';

const CLOSE_WITHIN_MS = 2000;

export interface Service {
  /** URL of the service, such as `http://127.0.0.1:3000`. */
  url: string;
  /** Path that signs the user of the first token in to the console, once. Null where others could read the output. */
  consoleLink: string | null;
  stop(): Promise<void>;
}

/** Starts the parts that `ROLE` selects, on a migrated database. On failure, closes everything and throws. */
export async function startService(config: Config): Promise<Service> {
  const adapter = createAdapter(config);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(config), adapter, {
    logger: new PinoLoggerService(adapter.getInstance().log),
    bodyParser: false,
    abortOnError: false,
  });
  try {
    if (config.docs && config.role !== 'worker') serveDocs(app);
    if (config.console && config.role !== 'worker') serveConsole(adapter.getInstance(), config);
    if (config.isLocal && config.role !== 'worker')
      serveTryReceivers(adapter.getInstance(), app.get(TryReceiversService));
    await app.listen(config.port, config.host);
    await app.get(MetricsServerService).start();
    return { url: urlOf(app, config), consoleLink: await consoleLinkOf(app, config), stop: () => stop(app) };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/**
 * Reports not ready, drains deliveries in flight, and closes. Closing has 2 s after the drain, because it may never end while
 * a store is unavailable.
 */
async function stop(app: NestFastifyApplication): Promise<void> {
  app.get(HealthService).drain();
  stopAccepting(app.getHttpServer());
  // Before any hook is awaited: a hook may wait for a store.
  void app.get(WorkerTasksService).stop();
  const closed = app.close();
  await app.get(WorkersService).stop();
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, CLOSE_WITHIN_MS).unref())]);
}

/** Creates a link only on the operator's own machine, because it carries the scopes of the first token. */
async function consoleLinkOf(app: NestFastifyApplication, { console, isLocal, role }: Config): Promise<string | null> {
  if (!console || !isLocal || role === 'worker') return null;
  return (await app.get(ConsoleLinksService).createForAdmin()).url;
}

function urlOf(app: NestFastifyApplication, { host }: Config): string {
  const address = app.getHttpServer().address() as { port: number };
  const reachable = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${address.port}`;
}
