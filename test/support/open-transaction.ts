import { Client } from 'pg';
import type { TestDatabase } from './postgres';
import { waitFor } from './wait-for';

/** A transaction that has run statements and not yet ended, so that others may wait for it. */
export interface OpenTransaction {
  /** Resolves when at least `count` connections wait for locks of this transaction, or when `other` returns true. */
  waitedFor(count: number, other?: () => boolean): Promise<void>;
  /** The statements that wait for locks of this transaction now, each as its connection and its beginning. */
  waiting(): Promise<string[]>;
  end(how: 'commit' | 'rollback'): Promise<void>;
}

/** The connections that $1 blocks, directly or through another one that it blocks. */
const WAITING_FOR = `
  with recursive blocked as (
    select $1::int as pid
    union
    select activity.pid from pg_stat_activity as activity, blocked
    where activity.wait_event_type = 'Lock' and blocked.pid = any(pg_blocking_pids(activity.pid))
  )
  select a.pid || ' since ' || a.query_start || ': ' || left(regexp_replace(a.query, '[[:space:]]+', ' ', 'g'), 200) as statement from blocked join pg_stat_activity a using (pid) where pid <> $1`;

export async function openTransaction(
  database: TestDatabase,
  ...statements: [sql: string, parameters: unknown[]][]
): Promise<OpenTransaction> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('begin');
  for (const [sql, parameters] of statements) await client.query(sql, parameters);
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const waiting = async () =>
    (await database.query<{ statement: string }>(WAITING_FOR, [rows[0]?.pid])).map(({ statement }) => statement);
  return {
    waiting,
    waitedFor: (count, other = () => false) =>
      waitFor(async () => other() || (await waiting()).length >= count, {
        what: `${count} connections that wait for a transaction`,
      }).then(() => undefined),
    end: async (how) => {
      await client.query(how);
      await client.end();
    },
  };
}
