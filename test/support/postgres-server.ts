import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOrdinaryPostgres } from '../../scripts/ordinary-postgres.cjs';
import { startEmbeddedPostgres } from '../../packages/embedded-postgres/src/embedded-postgres';
import { administrate, databaseUrl, TEMPLATE_DATABASE, TEST_DATABASE_URL, TEST_POSTGRES } from './postgres';
import { serviceFile, serviceNode, WEBHOOKS } from './service';

/**
 * Starts a server like that of the tests, with the database that `cloneDatabase` of this process copies from now on.
 * @param environment of an embedded server
 * @returns a function that stops it
 */
export async function startPostgres(environment?: Record<string, string>): Promise<() => Promise<void>> {
  const isOrdinary = process.env[TEST_POSTGRES] === 'ordinary';
  const { url, stop } = await (isOrdinary ? startOrdinaryPostgres() : startEmbedded(environment));
  process.env[TEST_DATABASE_URL] = url;
  try {
    await migrateTemplate();
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

async function startEmbedded(
  environment?: Record<string, string>,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-service-test-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    await chmod(folder, 0o755);
    const { url, stop } = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), environment });
    return { url, stop: () => stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function migrateTemplate(): Promise<void> {
  const command = serviceFile(WEBHOOKS);
  if (!existsSync(command)) throw new Error(`${command} is missing: run \`npm run build\` before the tests.`);
  await administrate(`create database ${TEMPLATE_DATABASE}`);
  // Durability after a crash of the machine does not matter here.
  if (process.env[TEST_POSTGRES] !== 'ordinary')
    await administrate('alter role current_user set synchronous_commit = off');
  const SECRETS_KEY = Buffer.alloc(32).toString('base64');
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl(TEMPLATE_DATABASE), SECRETS_KEY };
  const { status, stdout, stderr } = spawnSync(serviceNode(), [command, 'migrate'], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The migrations failed (exit code ${status}):\n${stdout}${stderr}`);
}
