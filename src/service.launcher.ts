import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module';
import type { Config } from './plumbing/config/config';
import { DispatchService } from './deliveries/sending/dispatch.service';
import { LocalFanOutService } from './deliveries/fan-out/local-fan-out.service';
import { RetentionService } from './deliveries/retention/retention.service';
import { RecoveryTimerService } from './deliveries/recovery/recovery-timer.service';
import { SweepTimerService } from './deliveries/sweeping/sweep-timer.service';
import { HealthService } from './plumbing/health/health.service';
import { PinoLoggerService } from './plumbing/http/logger.service';
import { createAdapter } from './plumbing/http/http-server.launcher';
import { MetricsServerService } from './plumbing/metrics/metrics-server.service';
import { serveDocs } from './plumbing/openapi/openapi.launcher';
import { WorkersService } from './plumbing/queue/workers.service';
import { FollowersTimerService } from './sources/followers/readings/followers-timer.service';
import { QueueMonitorService } from './sources/job-queues/queue-monitor.service';

/** Reading the rest of a body and writing the outcome, after the delivery deadline. */
const AFTER_DEADLINE_MS = 2000;
const CLOSE_WITHIN_MS = 2000;

const AT_WORK = [
  WorkersService,
  DispatchService,
  LocalFanOutService,
  SweepTimerService,
  RetentionService,
  FollowersTimerService,
  QueueMonitorService,
  RecoveryTimerService,
];

/** A running service. */
export interface Service {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  url: string;
  /** Takes no new work, finishes what is in flight, and closes. */
  stop(): Promise<void>;
}

/** Starts what `ROLE` asks for, on a migrated database. */
export async function startService(config: Config): Promise<Service> {
  const adapter = createAdapter(config);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(config), adapter, {
    logger: new PinoLoggerService(adapter.getInstance().log),
    bodyParser: false,
    abortOnError: false,
  });
  try {
    if (config.docs && config.role !== 'worker') serveDocs(app);
    await app.listen(config.port, config.host);
    await app.get(MetricsServerService).start();
    if (config.role !== 'api') startWork(app);
    return { url: urlOf(app, config), stop: () => stop(app, config) };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Starts everything that a worker does and an API does not. */
export function startWork(app: INestApplicationContext): void {
  for (const service of AT_WORK) app.get<{ start(): void }>(service).start();
}

async function stop(app: NestFastifyApplication, config: Config): Promise<void> {
  app.get(HealthService).drain();
  app.get(SweepTimerService).stop();
  app.get(LocalFanOutService).stop();
  app.get(DispatchService).stop();
  app.get(FollowersTimerService).stop();
  const monitored = app.get(QueueMonitorService).stop();
  app.get(RecoveryTimerService).stop();
  await app.get(WorkersService).drain(config.deliveryTimeoutMs + AFTER_DEADLINE_MS);
  await Promise.race([
    monitored.then(() => app.close()),
    new Promise((resolve) => setTimeout(resolve, CLOSE_WITHIN_MS).unref()),
  ]);
}

function urlOf(app: NestFastifyApplication, { host }: Config): string {
  const address = app.getHttpServer().address() as { port: number };
  const reachable = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${address.port}`;
}
