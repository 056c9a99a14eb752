// The built service, as dist/src/main.js starts it, in a process that also publishes: a small application with
// EventsService.
import { letYoungGenerationGrow } from '../../dist/src/young-generation.setup.js';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../../dist/src/app.module.js';
import { parseConfig } from '../../dist/src/infrastructure/config/settings.js';
import { RetentionService } from '../../dist/src/deliveries/retention/retention.service.js';
import { EventsService } from '../../dist/src/events/events.service.js';
import { PinoLoggerService } from '../../dist/src/infrastructure/http/logger.service.js';
import { createAdapter } from '../../dist/src/infrastructure/http/http-server.setup.js';
import { closedLoop } from '../loops.mjs';
import { dataOf, EVENT } from '../payload.mjs';
import { now, serve } from './remote.mjs';

const config = parseConfig(process.env);
const adapter = createAdapter(config);
const app = await NestFactory.create(AppModule.forRoot(config), adapter, {
  logger: new PinoLoggerService(adapter.getInstance().log),
  bodyParser: false,
});
await app.listen(config.port, config.host);
const startedAt = now();
letYoungGenerationGrow();

/** Publishes as many events as possible in process; returns when it began, and the ids of the events. */
async function publish({ count, concurrency, user }) {
  const service = app.get(EventsService);
  const publishOne = async (i) => (await service.publish(EVENT, dataOf(i), { userId: user })).id;
  const beganAt = now();
  return { startedAt: beganAt, eventIds: await closedLoop(count, concurrency, publishOne) };
}

/** Drops data past retention, as the hourly timer does; returns when it began and when it ended. */
async function dropOld() {
  const beganAt = now();
  await app.get(RetentionService).apply();
  return { beganAt, endedAt: now() };
}

serve({
  url: () => `http://127.0.0.1:${app.getHttpServer().address().port}`,
  /** When it started. */
  startedAt: () => startedAt,
  publish,
  dropOld,
});
