import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../packages/embedded-postgres/src/embedded-postgres';
import { isServerOf } from '../../../packages/embedded-postgres/src/postgres-process';
import type { Chronicle } from '../../support/chronicle';
import type { StageDatabase } from './stage-database';
import { freePort } from '../../support/service';
import { waitFor } from '../../support/wait-for';

/** SIGINT rolls back and ends, SIGQUIT ends at once and recovers at the next start, SIGKILL leaves even its children. */
export type PostgresEnd = 'SIGINT' | 'SIGQUIT' | 'SIGKILL';

/** A PostgreSQL server of one's own that ends in every way and is started again on its port, with its data. */
export class ChaosPostgres implements StageDatabase {
  isDown = false;
  private cameBack: (() => void)[] = [];

  private constructor(
    private readonly chronicle: Chronicle,
    private readonly root: string,
    private server: EmbeddedPostgres,
  ) {}

  static async start(chronicle: Chronicle): Promise<ChaosPostgres> {
    const root = await mkdtemp(join(tmpdir(), 'chaos-postgres-'));
    // PostgreSQL may run as another user.
    await chmod(root, 0o755);
    try {
      const server = await startEmbeddedPostgres({ dataDir: join(root, 'data'), port: await freePort() });
      return new ChaosPostgres(chronicle, root, server);
    } catch (error) {
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
      throw error;
    }
  }

  get port(): number {
    return this.server.port;
  }

  urlThrough(port: number): string {
    const url = new URL(this.server.url);
    url.port = String(port);
    return url.href;
  }

  async end(how: PostgresEnd): Promise<void> {
    this.goesAway();
    this.isDown = true;
    const { folder } = this.server;
    const pid = parseInt(await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '0'), 10);
    if (pid && (await isServerOf(pid, folder))) process.kill(pid, how);
    await waitFor(async () => !pid || !(await isServerOf(pid, folder)), { what: `the end of PostgreSQL by ${how}` });
  }

  async comeBack(): Promise<void> {
    const { port } = this.server;
    this.server = await startEmbeddedPostgres({ dataDir: join(this.root, 'data'), port });
    if (this.server.port !== port) throw new Error(`PostgreSQL could not come back on port ${port}.`);
    this.isDown = false;
    this.isBack();
  }

  /** Every new transaction of anybody refuses to write, as on a standby or a full disk. */
  async refuseWrites(): Promise<void> {
    this.goesAway();
    await this.query('alter system set default_transaction_read_only = on');
    await this.query('select pg_reload_conf()');
  }

  async acceptWrites(): Promise<void> {
    await this.query('alter system reset default_transaction_read_only');
    await this.query('select pg_reload_conf()');
    this.isBack();
  }

  /** From now on it counts as away; `isBack` ends that. */
  goesAway(): void {
    this.cameBack.push(this.chronicle.tear('PostgreSQL'), this.chronicle.absence('postgres'));
  }

  isBack(): void {
    for (const end of this.cameBack.splice(0)) end();
  }

  async query<Row extends QueryResultRow>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const client = await this.connect();
    return client
      .query<Row>(sql, parameters)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  }

  /** Nobody gets past this lock until the function that is handed back is called. */
  async lock(table: string, mode: 'access exclusive' | 'share row exclusive'): Promise<() => Promise<void>> {
    const client = await this.connect();
    await client.query('begin');
    await client.query(`lock table ${table} in ${mode} mode`);
    return () => client.end();
  }

  async stop(): Promise<void> {
    await this.server.stop().catch(() => this.end('SIGKILL'));
    await rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  private async connect(): Promise<Client> {
    const options = '-c default_transaction_read_only=off';
    const client = new Client({ connectionString: this.server.url, options });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }
}
