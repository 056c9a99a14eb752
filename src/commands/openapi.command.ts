import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { EventCatalogue } from 'webhook-notification/catalogue';
import { AppModule } from '../app.module';
import { parseConfig } from '../infrastructure/config/settings';
import { createAdapter } from '../infrastructure/http/http-server.setup';
import { buildOpenApi } from '../openapi.setup';

const FILE = 'openapi.json';

/** Runs `webhooks openapi`: writes the document. With `--check`, throws when the committed one is out of date instead. */
export async function writeOpenApi(args: string[]): Promise<void> {
  const { check } = parseArgs({ args, options: { check: { type: 'boolean' } } }).values;
  const config = parseConfig({ LOG_LEVEL: 'silent' });
  // A preview knows every route without creating providers, so no store is needed.
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(config), createAdapter(config), {
    preview: true,
    logger: false,
    bodyParser: false,
  });
  const document = `${JSON.stringify(buildOpenApi(app, new EventCatalogue(config).all), null, 2)}\n`;
  if (!check) return writeFile(FILE, document);
  const committed = await readFile(FILE, 'utf8').catch(() => '');
  if (committed === document) return;
  throw new Error(`${FILE} does not describe the code any more: run \`npm run openapi:write\` and commit it.`);
}
