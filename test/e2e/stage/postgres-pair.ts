import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../packages/embedded-postgres/src/embedded-postgres';
import { freePort } from '../../support/service';

/** A PostgreSQL server of the test's own, and a hot standby that follows it. */
export interface PostgresPair {
  readonly primary: EmbeddedPostgres;
  readonly standby: EmbeddedPostgres;
  stop(): Promise<void>;
}

/** Starts a primary and a standby made of a copy of its files. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const root = await mkdtemp(join(tmpdir(), 'postgres-pair-'));
  // PostgreSQL may run as another user.
  await chmod(root, 0o755);
  const started: EmbeddedPostgres[] = [];
  const start = async (folder: string, port: number) => {
    const server = await startEmbeddedPostgres({ dataDir: join(root, folder), port });
    started.push(server);
    return server;
  };
  const stop = async () => {
    for (const server of started) await server.stop();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const port = await freePort();
    await (await start('primary', port)).stop();
    await cp(join(root, 'primary'), join(root, 'standby'), { recursive: true, preserveTimestamps: true });
    const primary = await start('primary', port);
    const { username, password } = new URL(primary.url);
    const source = `host=127.0.0.1 port=${primary.port} user=${username} password=${password}`;
    const settings = `primary_conninfo = '${source}'\n`;
    await writeFile(join(root, 'standby/postgres/postgresql.auto.conf'), settings);
    await writeFile(join(root, 'standby/postgres/standby.signal'), '');
    const standby = await start('standby', await freePort());
    return { primary, standby, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Runs one statement over a connection of its own. */
export async function ask<Row extends QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url, options: '-c default_transaction_read_only=off' });
  await client.connect();
  return client
    .query<Row>(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}
