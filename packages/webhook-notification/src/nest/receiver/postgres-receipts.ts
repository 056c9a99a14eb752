import { rowsOf, type Transaction } from '../transaction';
import type { Received, Receipts } from './receipts';

export interface PostgresReceiptsOptions<Tx extends Transaction> {
  /**
   * Runs `work` in a transaction of the application, rolls back when it throws, and returns its result:
   * `(work) => dataSource.transaction(work)` with TypeORM.
   */
  transaction: <Result>(work: (transaction: Tx) => Promise<Result>) => Promise<Result>;
  /** Default: `webhook_receipts`, made at the start. */
  table?: string;
  /** Days after which an event is forgotten. Default: 31, one more than the service keeps events by default. */
  keepDays?: number;
}

const TABLE_NAME = /^[a-z_][a-z0-9_]{0,59}(\.[a-z_][a-z0-9_]{0,59})?$/;
/** Old notes that each new one removes: more than one, so that they end. */
const REMOVED_AT_ONCE = 10;

/**
 * Remembers handled events in PostgreSQL, in the transaction of the handler: what a handler writes through `@WebhookTransaction()`
 * and the note are committed together, or neither is.
 */
export class PostgresReceipts<Tx extends Transaction> implements Receipts<Tx> {
  private readonly table: string;
  private readonly keepDays: number;

  /** @throws TypeError for a name that would require quotes, or a number of days that is not above 0 */
  constructor(private readonly options: PostgresReceiptsOptions<Tx>) {
    const { table = 'webhook_receipts', keepDays = 31 } = options;
    if (!TABLE_NAME.test(table))
      throw new TypeError(`${JSON.stringify(table)} must be a name in lower case, with its schema or without.`);
    if (!(keepDays > 0)) throw new TypeError('keepDays must be a number above 0.');
    this.table = table;
    this.keepDays = keepDays;
  }

  async prepare(): Promise<void> {
    await this.options.transaction(async (transaction) => {
      // Two processes that start at once would both create it.
      await rowsOf(transaction, `select pg_advisory_xact_lock(hashtextextended($1::text, 0))::text`, this.table);
      await rowsOf(
        transaction,
        `create table if not exists ${this.table} (event_id text primary key, handled_at timestamptz not null default now())`,
      );
      const index = `${this.table.split('.').at(-1)}_handled_at`;
      await rowsOf(transaction, `create index if not exists ${index} on ${this.table} (handled_at)`);
    });
  }

  once(eventId: string, again: boolean, handle: (transaction: Tx) => Promise<void>): Promise<Received> {
    return this.options.transaction(async (transaction): Promise<Received> => {
      // An insert would wait for the other request instead.
      const [lock] = await rowsOf<{ free: boolean }>(
        transaction,
        `select pg_try_advisory_xact_lock(hashtextextended($1::text, 0)) as free`,
        `${this.table} ${eventId}`,
      );
      if (!lock?.free) return 'under_way';
      const [note] = await rowsOf(
        transaction,
        `insert into ${this.table} as r (event_id) values ($1::text)
         on conflict (event_id) do update set handled_at = now()
         where $2::text = 'again' or r.handled_at < now() - $3::text::float8 * interval '1 day'
         returning event_id`,
        eventId,
        again ? 'again' : '',
        String(this.keepDays),
      );
      if (!note) return 'done';
      await this.forget(transaction);
      await handle(transaction);
      return 'handled';
    });
  }

  private async forget(transaction: Tx): Promise<void> {
    await rowsOf(
      transaction,
      `delete from ${this.table} where event_id in (
         select event_id from ${this.table} where handled_at < now() - $1::text::float8 * interval '1 day'
         order by handled_at limit ${REMOVED_AT_ONCE} for update skip locked)
       returning event_id`,
      String(this.keepDays),
    );
  }
}
