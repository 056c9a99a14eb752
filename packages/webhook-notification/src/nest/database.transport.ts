import { isDeepStrictEqual } from 'node:util';
import { Logger } from '@nestjs/common';
import type { ObjectSchema } from '../catalogue/built-in-types';
import type { KnownEventType } from '../catalogue/event-catalogue';
import { nameProblem } from '../catalogue/event-name';
import { fingerprintOf, isSameEvent, PUBLICATION_MESSAGES } from '../catalogue/publication';
import { storableSchema } from '../catalogue/storable-schema';
import {
  DECLARE_TYPE,
  FIND_EVENTS,
  FIND_KEYS,
  FIND_TWIN,
  FIND_TYPES,
  READ_QUEUE_PREFIX,
  READ_VERSION,
  RENEW_TYPE,
  SCHEMA_VERSION,
  WRITE_EVENTS,
  WRITE_EVENTS_WITH_SUBJECTS,
} from './database-statements';
import { EventRefusedError } from './event-refused.error';
import { FanOutQueue } from './fan-out.queue';
import { PublishSpans } from './publish-spans';
import { rowsOf, type Transaction } from './transaction';
import type { ValidatedEvent, PublishedEvent, Transport } from './transport';

export interface DatabaseOptions {
  /** A connection to the service's database: a TypeORM DataSource, a pool of pg, or that of another library as `fromKnex(knex)`. */
  connection: Transaction;
  /**
   * The service's `REDIS_URL`, one Redis, with bullmq 6 installed: notifies its workers of each event that commits by
   * itself, or in an EntityManager of `connection`. They find all other events, and without this option all events,
   * within a second.
   */
  redisUrl?: string | undefined;
}

/** An event to write, with the hash of its content if it has a key. */
type Given = Pick<ValidatedEvent, 'name' | 'userId' | 'data' | 'subject'> & { key?: string; fingerprint?: string };

interface WrittenRow {
  id: string;
  createdAt: string;
  wins: 'true' | 'false';
}

/** Writes events to the service's own tables, for an application that uses the service's database. */
export function database(options: DatabaseOptions): Transport {
  return new DatabaseTransport(options);
}

class DatabaseTransport implements Transport {
  private readonly connection: Transaction;
  private readonly redisUrl: string | undefined;
  private queue: FanOutQueue | undefined;
  private readonly logger = new Logger('WebhookNotification');

  constructor({ connection, redisUrl }: DatabaseOptions) {
    this.connection = connection;
    this.redisUrl = redisUrl;
  }

  async start(application: string, types: readonly KnownEventType[]): Promise<void> {
    await this.checkVersion();
    for (const type of types) await this.declare(application, type);
    if (this.redisUrl === undefined) return;
    this.queue = new FanOutQueue(this.redisUrl, () => this.queuePrefix());
    this.queue.watch(this.connection);
  }

  /** The application owns the connection. */
  async stop(): Promise<void> {
    await this.queue?.close();
  }

  async write(events: readonly ValidatedEvent[], tx?: Transaction): Promise<PublishedEvent[]> {
    const spans = new PublishSpans(events.length);
    const published = await this.writeIn(tx ?? this.connection, events, spans).catch((error: unknown) => {
      spans.fail(error);
      throw error;
    });
    spans.end(published.map(({ id }) => id));
    this.queue?.enqueue(
      published.flatMap(({ id, userId, duplicate }) => (duplicate ? [] : [{ id: id as string, userId }])),
      tx,
    );
    return published;
  }

  private async writeIn(
    tx: Transaction,
    events: readonly ValidatedEvent[],
    spans: PublishSpans,
  ): Promise<PublishedEvent[]> {
    const given = events.map(({ name, userId, data, idempotencyKey, subject }, place) => ({
      ...{ place, name, userId, data, traceparent: spans.traceparentOf(place) },
      ...(subject !== undefined && { subject, about: memberOf(subject) }),
      ...(idempotencyKey !== undefined && {
        key: idempotencyKey,
        fingerprint: fingerprintOf(name, userId, data, subject).toString('hex'),
      }),
    }));
    const keys = given.flatMap(({ key }) => key ?? []);
    // A key that was used for another event must be found before the other events are committed.
    if (events.length > 1) await this.holdersOf(given, keys, tx);
    const write = given.some(({ subject }) => subject !== undefined) ? WRITE_EVENTS_WITH_SUBJECTS : WRITE_EVENTS;
    const rows = await rowsOf<WrittenRow>(tx, write, JSON.stringify(given)).catch((error: unknown) => {
      throw isUnknown('column', error) ? new Error(NO_SUBJECTS, { cause: error }) : error;
    });
    const lost = given.filter((_, i) => rows[i]?.wins === 'false');
    const holders = await this.holdersOf(
      given,
      lost.flatMap(({ key }) => key ?? []),
      tx,
    );
    return events.map(({ name: event, userId, idempotencyKey }, i) => {
      const { id, createdAt } = rows[i] as WrittenRow;
      const earlier = holders.get(idempotencyKey ?? '') ?? id;
      const isRepeat = earlier !== id;
      const at = isRepeat ? new Date(Number.parseInt(earlier.replace('-', '').slice(0, 12), 16)) : new Date(createdAt);
      return { id: earlier, event, userId, createdAt: at, duplicate: isRepeat };
    });
  }

  async find(names: readonly string[], tx: Transaction = this.connection): Promise<KnownEventType[]> {
    const rows = await rowsOf<
      Record<'name' | 'description' | 'schema' | 'example', string> & { application: string | null }
    >(tx, FIND_TYPES, JSON.stringify(names));
    return rows.map(({ schema, example, application, ...type }) => ({
      ...type,
      schema: JSON.parse(schema) as ObjectSchema,
      example: JSON.parse(example) as object,
      source: application === null ? 'api' : 'module',
      application,
    }));
  }

  /**
   * Returns the events that hold these keys.
   * @throws EventRefusedError 409 when one of them is another event
   */
  private async holdersOf(
    given: readonly Given[],
    keys: readonly string[],
    tx: Transaction,
  ): Promise<Map<string, string>> {
    if (keys.length === 0) return new Map();
    type Holder = { key: string; id: string; fingerprint: string };
    const rows = await rowsOf<Holder>(tx, FIND_KEYS, JSON.stringify(keys));
    const holders = new Map(rows.map((row) => [row.key, row]));
    const others = given.flatMap((event) => {
      const holder = holders.get(event.key ?? '');
      return holder && holder.fingerprint !== event.fingerprint ? [[event, holder.id] as const] : [];
    });
    if (others.length > 0 && !(await this.areRepeats(others, tx)))
      throw new EventRefusedError('idempotency_key_reused', PUBLICATION_MESSAGES.idempotencyKeyReused);
    return new Map(rows.map(({ key, id }) => [key, id]));
  }

  /** Returns whether each event has the content of the one with that id. */
  private async areRepeats(events: readonly (readonly [Given, id: string])[], tx: Transaction): Promise<boolean> {
    type Row = { id: string; name: string; userId: string | null; body: string };
    const rows = await rowsOf<Row>(tx, FIND_EVENTS, JSON.stringify(events.map(([, id]) => id)));
    const stored = new Map(rows.map((row) => [row.id, row]));
    return events.every(([{ name, userId, data, subject }, id]) => {
      const row = stored.get(id);
      const body = `{${subject === undefined ? '' : memberOf(subject)}"data":${data}}`;
      return row !== undefined && isSameEvent(row, { name, userId, body });
    });
  }

  /** A service older than 1.0 does not store a prefix, and uses BullMQ's own. */
  private async queuePrefix(): Promise<string | undefined> {
    const rows = await rowsOf<{ prefix: string }>(this.connection, READ_QUEUE_PREFIX).catch((error: unknown) => {
      if (!isUnknown('table', error)) throw error;
      return [];
    });
    return rows[0]?.prefix;
  }

  /** @throws Error when the service's tables do not exist, or have another version */
  private async checkVersion(): Promise<void> {
    const rows = await rowsOf<{ version: number }>(this.connection, READ_VERSION).catch((error: unknown) => {
      if (!isUnknown('table', error)) throw error;
      throw new Error('There is no webhook service in this database: start the service once before the application.', {
        cause: error,
      });
    });
    const version = Number(rows[0]?.version);
    if (Math.abs(version - SCHEMA_VERSION) <= 1) return;
    throw new Error(
      `The webhook service of this database has tables of version ${version}, and this package knows ${SCHEMA_VERSION}: ` +
        `bring the older one of the two up to date.`,
    );
  }

  /** @throws Error when another owner has the name */
  private async refusalOf(name: string): Promise<string> {
    const [twin] = await rowsOf<{ name: string }>(this.connection, FIND_TWIN, name);
    return twin ? `it differs from ${twin.name} only in case` : 'at most 500 event types are allowed';
  }

  private async declare(application: string, { name, description, schema, example }: KnownEventType): Promise<void> {
    const type = { schema: JSON.stringify(storableSchema(schema)), example: JSON.stringify(example) };
    const given = [name, description, type.schema, type.example, application];
    const problem = nameProblem(name);
    if (problem === null && (await rowsOf(this.connection, DECLARE_TYPE, ...given)).length > 0) return;
    const [stored] = await this.find([name]);
    if (!stored) throw new Error(`The event ${name} cannot be declared: ${problem ?? (await this.refusalOf(name))}.`);
    if (stored.application !== application) {
      const owner =
        stored.application === null ? 'it was declared over the API' : `the application ${stored.application} has it`;
      throw new Error(`The event ${name} cannot be declared: ${owner}.`);
    }
    if (!isDeepStrictEqual(stored.schema, JSON.parse(type.schema))) {
      this.logger.warn(
        `The event ${name} is stored with another schema, which holds for others: replace it with PUT /api/event-types/${name}?force=true.`,
      );
    } else if (stored.description !== description || !isDeepStrictEqual(stored.example, JSON.parse(type.example))) {
      await rowsOf(this.connection, RENEW_TYPE, name, description, type.example, application);
    }
  }
}

/** The member of a body that has the subject. */
const memberOf = (subject: string): string => `"subject":${JSON.stringify(subject)},`;

const NO_SUBJECTS =
  'The webhook service of this database does not know subjects: upgrade it to 1.0, or publish without a subject.';

/** Drizzle wraps the driver's error as a cause. */
function isUnknown(what: 'table' | 'column', error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  return [code, cause?.code].includes(what === 'table' ? '42P01' : '42703');
}
