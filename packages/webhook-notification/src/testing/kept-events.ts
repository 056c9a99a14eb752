import { randomUUID } from 'node:crypto';
import { rowsOf, type Transaction } from '../nest/transaction';

/** An event that a test published. */
export interface KeptEvent {
  id: string;
  event: string;
  userId: string | null;
  data: Record<string, unknown>;
  idempotencyKey: string | null;
  subject: string | null;
  /** ISO 8601. */
  createdAt: string;
}

/** Storage for the events of a test. */
export interface KeptEvents {
  begin(): Promise<void>;
  /** Returns the committed events; with a transaction, also its own. In insertion order. */
  all(tx?: Transaction): Promise<KeptEvent[]>;
  add(events: readonly KeptEvent[], tx?: Transaction): Promise<void>;
  clear(): Promise<void>;
  end(): Promise<void>;
}

/** Without a database: every event counts as committed at once. */
export class EventsInMemory implements KeptEvents {
  private kept: KeptEvent[] = [];

  async begin(): Promise<void> {}

  all(): Promise<KeptEvent[]> {
    return Promise.resolve([...this.kept]);
  }

  async add(events: readonly KeptEvent[]): Promise<void> {
    this.kept.push(...events);
  }

  async clear(): Promise<void> {
    this.kept = [];
  }

  async end(): Promise<void> {}
}

/** In a table of the application's test database, so that an event counts exactly when its transaction has committed. */
export class EventsInTable implements KeptEvents {
  private readonly table = `webhook_notification_test_${randomUUID().replaceAll('-', '')}`;

  constructor(private readonly connection: Transaction) {}

  async begin(): Promise<void> {
    await rowsOf(
      this.connection,
      `create unlogged table ${this.table} (position bigint generated always as identity, event text not null)`,
    );
  }

  async all(tx: Transaction = this.connection): Promise<KeptEvent[]> {
    const rows = await rowsOf<{ event: string }>(tx, `select event from ${this.table} order by position`);
    return rows.map(({ event }) => JSON.parse(event) as KeptEvent);
  }

  async add(events: readonly KeptEvent[], tx: Transaction = this.connection): Promise<void> {
    const texts = JSON.stringify(events.map((event) => JSON.stringify(event)));
    const insert = `insert into ${this.table} (event) select e from json_array_elements_text($1::text::json) as e returning 1`;
    await rowsOf(tx, `with added as (${insert}) select count(*) from added`, texts);
  }

  async clear(): Promise<void> {
    await rowsOf(this.connection, `truncate ${this.table}`);
  }

  async end(): Promise<void> {
    await rowsOf(this.connection, `drop table ${this.table}`);
  }
}
