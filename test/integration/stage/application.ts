import { randomBytes } from 'node:crypto';
import { type DynamicModule, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { AppModule } from '../../../src/app.module';
import { parseConfig } from '../../../src/plumbing/config/settings';
import { AdmissionService } from '../../../src/deliveries/sending/admission.service';
import { createAdapter } from '../../../src/plumbing/http/http-server.launcher';
import { WorkersService } from '../../../src/plumbing/queue/workers.service';
import { defaultSettings, type Settings } from '../../support/service';

/** The service in this process, with further modules beside its own, adapted as the test says; its workers run. */
export async function startApplication(
  databaseUrl: string,
  modules: (Type | DynamicModule)[],
  settings: Settings = {},
  adapt: (builder: TestingModuleBuilder) => TestingModuleBuilder = (builder) => builder,
): Promise<NestFastifyApplication> {
  const token = `wns_${randomBytes(32).toString('base64url')}`;
  const config = parseConfig({ ...defaultSettings(databaseUrl, token), LOG_LEVEL: 'silent', ...settings });
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
  app.get(WorkersService).start();
  app.get(AdmissionService).start();
  return app;
}

/** Ends it as the service itself does: drained first. */
export async function stopApplication(app: NestFastifyApplication): Promise<void> {
  await Promise.all([app.get(AdmissionService).stop(), app.get(WorkersService).stop()]);
  await app.close();
}
