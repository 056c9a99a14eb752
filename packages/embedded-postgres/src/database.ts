import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

const RECOVERY_POLL_MS = 50;
const RECOVERY_DEADLINE_MS = 5 * 60_000;
const BOUNDS = { connectionTimeoutMillis: 30_000, query_timeout: 60_000 };

/** Creates the database that the url names if it does not exist. Waits while PostgreSQL recovers. */
export async function ensureDatabase(url: string, signal?: AbortSignal): Promise<void> {
  if (await databaseExists(url, signal)) return;
  const name = new URL(url).pathname.slice(1);
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  const client = new Client({ connectionString: maintenance.href, ...BOUNDS });
  await client.connect();
  await client.query(`create database "${name}"`).finally(() => client.end());
}

async function databaseExists(url: string, signal?: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + RECOVERY_DEADLINE_MS;
  for (;;) {
    const client = new Client({ connectionString: url, ...BOUNDS });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return true;
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === '3D000') return false;
      if (code === '28P01')
        throw new Error('The embedded PostgreSQL refuses the password in postgres.password.', { cause: error });
      // PostgreSQL is recovering, because one of its processes was killed.
      if (code !== '57P03' || Date.now() > deadline) throw error;
      await sleep(RECOVERY_POLL_MS, undefined, { signal });
    }
  }
}
