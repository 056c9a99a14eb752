import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEmbeddedPostgres } from '../../src/plumbing/embedded/embedded-postgres.launcher';
import { administrate, databaseUrl, TEMPLATE_DATABASE, TEST_DATABASE_URL } from './postgres';
import { hasRedisServer } from './redis';
import { SERVICE_DIST, serviceFile, WEBHOOKS } from './service';
import { TEST_REDIS } from './stores';

/** What globalTeardown has to undo, newest last; jest runs both in the same process. */
export type Undo = () => Promise<void>;
const shared = globalThis as { undoTestSetup?: () => Promise<void> };

/** Starts the one PostgreSQL of a test run and migrates the database that every test file clones. */
export default async function globalSetup(): Promise<void> {
  const undo: Undo[] = [];
  shared.undoTestSetup = async () => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  endWithTheRun(shared.undoTestSetup);
  try {
    await startPostgres(undo);
    await migrateTemplate();
    announceRedis();
  } catch (error) {
    // jest runs no teardown after a setup that failed.
    await shared.undoTestSetup();
    throw error;
  }
}

async function startPostgres(undo: Undo[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-service-test-'));
  undo.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'data') });
  undo.push(() => postgres.stop());
  process.env[TEST_DATABASE_URL] = postgres.url;
  // What a crash of the machine would lose is of no interest here.
  await administrate('alter role current_user set synchronous_commit = off');
}

async function migrateTemplate(): Promise<void> {
  process.env[SERVICE_DIST] = resolve(process.env[SERVICE_DIST] ?? 'dist');
  const command = serviceFile(WEBHOOKS);
  if (!existsSync(command)) throw new Error(`${command} is missing: run \`npm run build\` before the tests.`);
  await administrate(`create database ${TEMPLATE_DATABASE}`);
  const SECRETS_KEY = Buffer.alloc(32).toString('base64');
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl(TEMPLATE_DATABASE), SECRETS_KEY };
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, 'migrate'], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The migrations failed (exit code ${status}):\n${stdout}${stderr}`);
}

function announceRedis(): void {
  process.env[TEST_REDIS] = hasRedisServer() ? 'yes' : '';
  if (process.env[TEST_REDIS]) return;
  process.stderr.write('\n!! SKIPPED: every test on Redis, because this machine has no redis-server.\n\n');
}

/** Ctrl-C ends jest without a teardown; PostgreSQL, which does not hear of it, must not survive that. */
function endWithTheRun(undoAll: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void undoAll().finally(() => process.exit(1));
    });
  }
}
