import { chown, mkdtemp, chmod, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../packages/embedded-postgres/src/embedded-postgres';
import type { Identity } from './hostile-certificates';

export interface TlsPostgres {
  /** Its url, without `sslmode`. */
  readonly url: string;
  /** Runs one statement over a connection without TLS. */
  query<Row extends object>(sql: string): Promise<Row[]>;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL of the test's own that also speaks TLS, with this certificate. */
export async function startTlsPostgres({ cert, key }: Identity): Promise<TlsPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'tls-postgres-'));
  await chmod(folder, 0o755);
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data') });
  const query = async <Row extends object>(sql: string) => {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    return client
      .query<Row>(sql)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  };
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    // PostgreSQL does not run as root.
    const { uid, gid } = await stat(join(folder, 'data', 'postgres'));
    const files = { ssl_cert_file: cert, ssl_key_file: key };
    for (const [setting, content] of Object.entries(files)) {
      const path = join(folder, setting);
      await writeFile(path, content, { mode: 0o600 });
      await chown(path, uid, gid);
      await query(`alter system set ${setting} = '${path}'`);
    }
    await query('alter system set ssl = on');
    await query('select pg_reload_conf()');
    return { url: server.url, query, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
