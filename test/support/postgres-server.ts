import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ordinaryPostgresBin, startOrdinaryPostgres } from '../../scripts/ordinary-postgres.cjs';
import { startEmbeddedPostgres } from '../../packages/embedded-postgres/src/embedded-postgres';
import {
  administrate,
  databaseUrl,
  TEMPLATE_DATABASE,
  TEST_DATABASE_URL,
  TEST_ORDINARY_URL,
  TEST_POSTGRES,
} from './postgres';
import { serviceFile, serviceNode, WEBHOOKS } from './service';

/**
 * Starts the servers of a run: the embedded one, and where this machine has the programs, one with the defaults of users,
 * which the tests of publishing and delivering use. With `TEST_POSTGRES=ordinary` all tests use that one.
 */
export async function startServers(): Promise<() => Promise<void>> {
  const kind = process.env[TEST_POSTGRES];
  if (kind !== undefined || !ordinaryPostgresBin()) return startPostgres(kind === 'ordinary');
  const stopOrdinary = await startPostgres(true);
  const ordinaryUrl = process.env[TEST_DATABASE_URL];
  try {
    const stopEmbedded = await startPostgres(false);
    process.env[TEST_ORDINARY_URL] = ordinaryUrl;
    return async () => void (await Promise.all([stopOrdinary(), stopEmbedded()]));
  } catch (error) {
    await stopOrdinary();
    throw error;
  }
}

/**
 * Starts a server, with the database that `cloneDatabase` of this process copies from now on.
 * @param environment of an embedded server
 * @param settings of an ordinary server
 * @returns a function that stops it
 */
export async function startPostgres(
  isOrdinary: boolean,
  environment?: Record<string, string>,
  settings?: Record<string, string>,
): Promise<() => Promise<void>> {
  delete process.env[TEST_ORDINARY_URL];
  const { url, stop } = await (isOrdinary ? startOrdinaryPostgres(settings) : startEmbedded(environment));
  process.env[TEST_DATABASE_URL] = url;
  try {
    await migrateTemplate(isOrdinary);
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

async function migrateTemplate(isOrdinary: boolean): Promise<void> {
  const command = serviceFile(WEBHOOKS);
  if (!existsSync(command)) throw new Error(`${command} is missing: run \`npm run build\` before the tests.`);
  await administrate(`create database ${TEMPLATE_DATABASE}`);
  // Durability after a crash of the machine does not matter here.
  if (!isOrdinary) await administrate('alter role current_user set synchronous_commit = off');
  const SECRETS_KEY = Buffer.alloc(32).toString('base64');
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl(TEMPLATE_DATABASE), SECRETS_KEY };
  const { status, stdout, stderr } = spawnSync(serviceNode(), [command, 'migrate'], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The migrations failed (exit code ${status}):\n${stdout}${stderr}`);
}
