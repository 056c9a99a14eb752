import { randomBytes } from 'node:crypto';
import { type DynamicModule, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { AppModule } from '../../../src/app.module';
import { parseConfig } from '../../../src/infrastructure/config/settings';
import { DeferredDispatchService } from '../../../src/deliveries/sending/deferred-dispatch.service';
import { createAdapter } from '../../../src/infrastructure/http/http-server.setup';
import { WorkersService } from '../../../src/infrastructure/queue/workers.service';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { defaultSettings, type Settings } from '../../support/service';

/** Starts the service in this process with additional modules and the adaptations of the test; its workers run. */
export async function startApplication(
  ...args: Parameters<typeof startIdleApplication>
): Promise<NestFastifyApplication> {
  const app = await startIdleApplication(...args);
  app.get(WorkersService).start();
  app.get(DeferredDispatchService).start();
  return app;
}

/** The same without workers and loops. */
export async function startIdleApplication(
  databaseUrl: string,
  modules: (Type | DynamicModule)[],
  settings: Settings = {},
  adapt: (builder: TestingModuleBuilder) => TestingModuleBuilder = (builder) => builder,
): Promise<NestFastifyApplication> {
  const token = `wns_${randomBytes(32).toString('base64url')}`;
  // With this role no work starts automatically.
  const config = parseConfig({ ...defaultSettings(databaseUrl, token), LOG_LEVEL: 'silent', ROLE: 'api', ...settings });
  const builder = Test.createTestingModule({ imports: [AppModule.forRoot(config), ...modules] });
  const testing = await adapt(builder).compile();
  const app = testing.createNestApplication<NestFastifyApplication>(createAdapter(config), {
    logger: false,
    bodyParser: false,
  });
  try {
    await app.init();
  } catch (error) {
    await app.close();
    throw error;
  }
  return app;
}

/** Starts it on a database of its own for the tests of a file, and stops both after them. */
export function useApplication(): { app: NestFastifyApplication; database: TestDatabase } {
  const running: { app?: NestFastifyApplication; database?: TestDatabase } = {};
  beforeAll(async () => {
    running.database = await cloneDatabase();
    running.app = await startApplication(running.database.url, []);
  });
  afterAll(async () => {
    if (running.app) await stopApplication(running.app);
    await running.database?.drop();
  });
  return { app: lateOf(() => running.app), database: lateOf(() => running.database) };
}

/** Returns what stands for an object that exists only while tests run. */
export const lateOf = <Late extends object>(find: () => Late | undefined): Late =>
  new Proxy({} as Late, {
    get: (_, property: keyof Late & string) => {
      const found = find();
      if (!found) throw new Error('It exists only while tests run.');
      const value = found[property];
      return typeof value === 'function' ? (value.bind(found) as unknown) : value;
    },
  });

/** Stops it like the service itself: draining first. */
export async function stopApplication(app: NestFastifyApplication): Promise<void> {
  await Promise.all([app.get(DeferredDispatchService).stop(), app.get(WorkersService).stop()]);
  await app.close();
}
