import type { QueryResultRow } from 'pg';

/** The PostgreSQL of a stage. */
export interface StageDatabase {
  readonly port: number;
  /** The url for whoever reaches it through this port: its own, or a proxy's. */
  urlThrough(port: number): string;
  /** Runs one statement over a connection of its own, past every proxy. */
  query<Row extends QueryResultRow>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
}
