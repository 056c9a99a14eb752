import { setTimeout as pause } from 'node:timers/promises';
import type { KnownEventType } from '../catalogue/event-catalogue';
import { storableSchema } from '../catalogue/storable-schema';
import { WebhookServiceError } from '../client/service-error';
import { DEFAULT_OUTBOX, type OutboxStatements, outboxStatements } from './outbox-statements';
import { messageOf, OutboxRelay } from './outbox.relay';
import { rowsOf, type Transaction } from './transaction';
import type { ValidatedEvent, PublishedEvent, ServicePlace, Transport } from './transport';

export interface HttpOptions extends ServicePlace {
  outbox: {
    /**
     * A connection to the application's own PostgreSQL: a TypeORM DataSource, a pool of pg, or that of another library as
     * `fromKnex(knex)`.
     */
    connection: Transaction;
    /** The table, with or without its schema. Default: `webhook_outbox`. */
    table?: string;
  };
}

/** Whether the outbox is there, with its newest column. */
const IS_THERE = `
  select attname::text as name from pg_attribute
  where attrelid = to_regclass($1::text) and attname = 'subject' and not attisdropped`;
const NO_OUTBOX =
  'The outbox is missing or older than this package, and could not be changed: run `npx webhook-notification-cli outbox migrate`.';
/** Delay in ms before a failed declaration is retried. */
const DECLARE_AGAIN_MS = 60_000;
const DECLARE_SOON_MS = 1000;

/** Writes events to an outbox of the application, whose relay sends them to the service. Works for any application. */
export function http(options: HttpOptions): Transport {
  return new HttpTransport(options);
}

class HttpTransport implements Transport {
  readonly service: ServicePlace;
  private readonly connection: Transaction;
  private readonly table: string;
  private readonly statements: OutboxStatements;
  private readonly relay: OutboxRelay;
  private readonly stopping = new AbortController();
  private readonly undeclared = new Set<string>();
  private declaring: Promise<void> = Promise.resolve();

  constructor({ outbox: { connection, table = DEFAULT_OUTBOX }, ...place }: HttpOptions) {
    this.connection = connection;
    this.table = table;
    this.statements = outboxStatements(table);
    this.service = place;
    this.relay = new OutboxRelay(connection, this.statements, place, this.undeclared);
  }

  /** Creates the outbox if it is missing. Everything that requires the service happens in the background. */
  async start(application: string, types: readonly KnownEventType[]): Promise<void> {
    await this.makeOutbox();
    for (const { name } of types) this.undeclared.add(name);
    this.declaring = this.declareAll(application, types);
  }

  /** An application whose role may not create or alter tables needs a migration for it. */
  private async makeOutbox(): Promise<void> {
    if (await this.isThere()) return;
    try {
      await rowsOf(this.connection, `do $$ begin ${this.statements.create.join('; ')}; end $$`);
    } catch (error) {
      // Another process may have created it at the same moment.
      if (!(await this.isThere())) throw new Error(`${NO_OUTBOX} ${messageOf(error)}`, { cause: error });
    }
  }

  private async isThere(): Promise<boolean> {
    const [found] = await rowsOf<{ name: string | null }>(this.connection, IS_THERE, this.table);
    return found?.name != null;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.relay.stop();
    await this.declaring;
  }

  async write(events: readonly ValidatedEvent[], tx?: Transaction): Promise<PublishedEvent[]> {
    const given = events.map(({ name, userId, data, idempotencyKey, subject }, place) => ({
      ...{ place, name, userId, data, subject },
      ...(idempotencyKey !== undefined && { key: idempotencyKey }),
    }));
    const rows = await rowsOf<{ createdAt: string }>(
      tx ?? this.connection,
      this.statements.write,
      JSON.stringify(given),
    );
    if (!tx) this.relay.wake();
    return events.map(({ name: event, userId }, i) => ({
      id: null,
      event,
      userId,
      createdAt: new Date(rows[i]?.createdAt ?? NaN),
      duplicate: false,
    }));
  }

  async find(names: readonly string[]): Promise<KnownEventType[]> {
    const types = await this.relay.service.eventTypes.list();
    return types.filter(({ name }) => names.includes(name)) as unknown as KnownEventType[];
  }

  /** Retries until each type is declared, or rejected permanently. Publishing does not wait for it. */
  private async declareAll(application: string, types: readonly KnownEventType[]): Promise<void> {
    for (let pauseMs = DECLARE_SOON_MS; !this.stopping.signal.aborted; pauseMs = DECLARE_AGAIN_MS) {
      try {
        for (const type of types.filter(({ name }) => this.undeclared.has(name))) {
          await this.declare(application, type);
          this.undeclared.delete(type.name);
        }
        return;
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        this.relay.say(`The event types of ${application} are not declared yet: ${messageOf(error)}`);
      } finally {
        if (!this.stopping.signal.aborted) this.relay.start();
      }
      await pause(pauseMs, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
    }
  }

  private async declare(application: string, { name, description, schema, example }: KnownEventType): Promise<void> {
    const body = { description, application, schema: { ...storableSchema(schema) }, example: { ...example } };
    try {
      await this.relay.service.eventTypes.save(name, body, { signal: this.stopping.signal });
    } catch (error) {
      if (!(error instanceof WebhookServiceError) || !error.fromService) throw error;
      if (error.status !== 409 && error.status !== 400) throw error;
      this.relay.say(`The event ${name} is not declared: ${error.message}`);
    }
  }
}
