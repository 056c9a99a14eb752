import type { INestApplicationContext, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module';
import { ALL_SCOPES } from './auth/scope';
import { ConsoleLinksService } from './auth/sessions/console-links.service';
import { serveConsole } from './console/console-pages.launcher';
import type { Config } from './plumbing/config/config';
import { AdmissionService } from './deliveries/sending/admission.service';
import { ChangesService } from './deliveries/log/changes.service';
import { LocalFanOutService } from './deliveries/fan-out/local-fan-out.service';
import { RetentionService } from './deliveries/retention/retention.service';
import { RecoveryProgressService } from './deliveries/recovery/recovery-progress.service';
import { AheadRowsService } from './deliveries/sweeping/ahead-rows.service';
import { SweepTimerService } from './deliveries/sweeping/sweep-timer.service';
import { HealthService } from './plumbing/health/health.service';
import { PinoLoggerService } from './plumbing/http/logger.service';
import { createAdapter } from './plumbing/http/http-server.launcher';
import { MetricsServerService } from './plumbing/metrics/metrics-server.service';
import { serveDocs } from './docs.launcher';
import { serveTryReceivers } from './try-receivers/try-route.launcher';
import { TryReceiversService } from './try-receivers/try-receivers.service';
import { RollUpService } from './webhooks/stats/roll-up.service';
import { WorkersService } from './plumbing/queue/workers.service';
import { FollowersTimerService } from './sources/followers/readings/followers-timer.service';
import { QueueMonitorService } from './sources/job-queues/queue-monitor.service';

const CLOSE_WITHIN_MS = 2000;

/** A part of the work of a worker process. A process with the role `api` does none of it. */
interface Work {
  start(): void;
  /** Begins nothing more. Resolves when what was under way has ended. */
  stop(): Promise<void>;
}

/** Started in this order and stopped in the reverse order: the workers stop last, and stopping waits for them. */
const WORK: readonly Type<Work>[] = [
  WorkersService,
  AdmissionService,
  LocalFanOutService,
  SweepTimerService,
  AheadRowsService,
  RetentionService,
  RollUpService,
  FollowersTimerService,
  QueueMonitorService,
  RecoveryProgressService,
];

/** A running service. */
export interface Service {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  url: string;
  /** Signs the user of the first token in at the console, once; a path. Null where others could read what is printed. */
  consoleLink: string | null;
  /** Takes no new work, finishes what is in flight, and closes. */
  stop(): Promise<void>;
}

/** Starts what `ROLE` asks for, on a migrated database. When that fails it closes everything again and throws. */
export async function startService(config: Config): Promise<Service> {
  const adapter = createAdapter(config);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(config), adapter, {
    logger: new PinoLoggerService(adapter.getInstance().log),
    bodyParser: false,
    abortOnError: false,
  });
  try {
    if (config.docs && config.role !== 'worker') serveDocs(app);
    if (config.console && config.role !== 'worker') serveConsole(adapter.getInstance());
    if (config.isLocal && config.role !== 'worker')
      serveTryReceivers(adapter.getInstance(), app.get(TryReceiversService));
    await app.listen(config.port, config.host);
    await app.get(MetricsServerService).start();
    if (config.role !== 'api') startWork(app);
    return { url: urlOf(app, config), consoleLink: await consoleLinkOf(app, config), stop: () => stop(app) };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Starts all work of a worker process. */
export function startWork(app: INestApplicationContext): void {
  for (const work of WORK) app.get(work).start();
}

/** Stops all of this work at once. Resolves when no delivery is in flight any more, or when the time for it is over. */
export async function stopWork(app: INestApplicationContext): Promise<void> {
  const stopping = WORK.map((work) => app.get(work))
    .reverse()
    .map((work) => work.stop());
  await stopping.at(-1);
  await within(CLOSE_WITHIN_MS, Promise.all(stopping));
}

async function stop(app: NestFastifyApplication): Promise<void> {
  app.get(HealthService).drain();
  await app.get(ChangesService).stop();
  app.get(TryReceiversService).stop();
  await stopWork(app);
  await within(CLOSE_WITHIN_MS, app.close());
}

/** Only on the machine of who starts it, because the link carries all scopes of the first token. */
async function consoleLinkOf(app: NestFastifyApplication, { console, isLocal, role }: Config): Promise<string | null> {
  if (!console || !isLocal || role === 'worker') return null;
  return (await app.get(ConsoleLinksService).createForAdmin(ALL_SCOPES)).url;
}

/** Waits for the work, at most `ms`: while a store is away, the work may never end. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, new Promise((resolve) => setTimeout(resolve, ms).unref())]);
}

function urlOf(app: NestFastifyApplication, { host }: Config): string {
  const address = app.getHttpServer().address() as { port: number };
  const reachable = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${address.port}`;
}
