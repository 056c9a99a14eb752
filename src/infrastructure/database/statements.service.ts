import { Injectable } from '@nestjs/common';
import type { Client, Pool, QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { HOUR_MS } from '../config/durations';
import { PostgresConnection } from './postgres-connection.client';

/** A statement that PostgreSQL parses and plans once per connection. `name` must be unique in the service. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export const statement =
  (name: string) =>
  (text: TemplateStringsArray, ...parts: (string | number)[]): Statement => ({
    name,
    text: String.raw({ raw: text }, ...parts),
  });

/** Makes the statements of a transaction read rows in the order of an index. */
export const BY_INDEX_ONLY =
  'set local enable_seqscan = off; set local enable_bitmapscan = off; ' +
  'set local enable_sort = off; set local enable_incremental_sort = off';

/** Longer than any statement of maintenance takes: then the network to PostgreSQL is gone. */
const MAINTENANCE_MS = HOUR_MS;

/** Runs named, prepared statements through the pool of TypeORM's driver, whose own `query` cannot name them. */
@Injectable()
export class StatementsService {
  constructor(private readonly dataSource: DataSource) {}

  async run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { master } = this.dataSource.driver as unknown as { master: Pool };
    // Another application that publishes through its own pool may use the same names there.
    const name = `webhook_service.${statement.name}`;
    const result = await master.query<Row>({ name, text: statement.text, values: values as unknown[] });
    return result.rows;
  }

  /**
   * Runs a statement by the plan that reads rows in the order of an index: in a short or unbalanced table other plans look
   * cheap, and then read everything. Rejects with pg's error.
   */
  runByIndex<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query(BY_INDEX_ONLY);
      return manager.query<Row[]>(text, [...values]);
    });
  }

  /**
   * Runs a statement of maintenance, such as VACUUM, on a connection of its own: it may take minutes, and the pool stays free.
   * Rejects with pg's error.
   */
  async runAlone(text: string): Promise<void> {
    const { options } = (this.dataSource.driver as unknown as { master: Pool }).master;
    const client: Client = new PostgresConnection({ ...options, silenceMs: MAINTENANCE_MS, isUnlimited: true });
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  }
}
