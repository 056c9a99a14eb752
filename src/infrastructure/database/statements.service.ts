import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Pool, QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';

/** A statement that PostgreSQL parses and plans once per connection. `name` must be unique in the service. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

const BY_INDEX_ONLY = 'set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off';

/** Runs named, prepared statements through the pool of TypeORM's driver, whose own `query` cannot name them. */
@Injectable()
export class StatementsService {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Runs the statement and returns its rows. Rejects with pg's error. */
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

  /** Runs a statement without parameters that PostgreSQL does not allow in a transaction. Rejects with pg's error. */
  async runAlone(text: string): Promise<void> {
    await (this.dataSource.driver as unknown as { master: Pool }).master.query(text);
  }
}
