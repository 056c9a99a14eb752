import { Client } from 'pg';
import type { TestDatabase } from './postgres';
import { waitFor } from './wait-for';

/** A transaction that has done something and not yet ended: others may have to wait for it. */
export interface OpenTransaction {
  /** Waits until so many connections wait for a lock, or until `other` has come true. */
  waitedFor(count: number, other?: () => boolean): Promise<void>;
  end(how: 'commit' | 'rollback'): Promise<void>;
}

export async function openTransaction(
  database: TestDatabase,
  ...statements: [sql: string, parameters: unknown[]][]
): Promise<OpenTransaction> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('begin');
  for (const [sql, parameters] of statements) await client.query(sql, parameters);
  const WAITING = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return {
    waitedFor: async (count, other = () => false) => {
      const waiting = async () => other() || (await database.query(WAITING, [])).length >= count;
      await waitFor(waiting, { what: `${count} connections that wait for a lock` });
    },
    end: async (how) => {
      await client.query(how);
      await client.end();
    },
  };
}
