import type { QueryResultRow } from 'pg';
import { waitFor } from '../../support/wait-for';
import type { StageDatabase } from './stage-database';
import { PostgresNode } from './postgres-node';

const IS_SYNCHRONOUS = `
  select from pg_stat_replication
  where state = 'streaming' and sync_state = 'sync' and current_setting('synchronous_standby_names') = '*'`;

/** A primary and a synchronous standby. The standby takes the place of the primary, and gets a standby of its own. */
export class PostgresFailover implements StageDatabase {
  private standby: PostgresNode | null = null;
  private readonly killed: PostgresNode[] = [];

  private constructor(private primary: PostgresNode) {}

  static async start(): Promise<PostgresFailover> {
    const pair = new PostgresFailover(await PostgresNode.start());
    try {
      await pair.addStandby();
    } catch (error) {
      await pair.stop();
      throw error;
    }
    return pair;
  }

  /** The port of the primary. */
  get port(): number {
    return this.primary.port;
  }

  get standbyPort(): number {
    return this.standby?.port ?? 0;
  }

  urlThrough(port: number): string {
    return this.primary.urlThrough(port);
  }

  query<Row extends QueryResultRow>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return this.primary.query<Row>(sql, parameters);
  }

  async killPrimary(): Promise<void> {
    this.killed.push(this.primary);
    await this.primary.kill();
  }

  /** Makes the standby the primary, which waits for no standby until it has one. */
  async promote(): Promise<void> {
    if (!this.standby) throw new Error('There is no standby.');
    const [row] = await this.standby.query<{ promoted: boolean }>('select pg_promote() as promoted');
    if (!row?.promoted) throw new Error('The standby was not promoted.');
    [this.primary, this.standby] = [this.standby, null];
  }

  /** Makes a standby from the primary. From then on a commit waits until its change is on both. */
  async addStandby(): Promise<void> {
    this.standby = await (await this.primary.baseBackup('-R')).start();
    await this.query(`alter system set synchronous_standby_names = '*'`);
    await this.query('select pg_reload_conf()');
    const isSynchronous = async () => (await this.query(IS_SYNCHRONOUS)).length > 0;
    await waitFor(isSynchronous, { what: 'a synchronous standby' });
  }

  async stop(): Promise<void> {
    for (const node of [...this.killed, this.primary, this.standby]) await node?.stop();
  }
}
