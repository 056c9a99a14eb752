import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { isSameEvent } from 'webhook-notification/catalogue';
import { StatementsService, statement } from '../infrastructure/database/statements.service';

export interface NewEvent {
  id: string;
  name: string;
  userId: string | null;
  publisherId: string | null;
  body: string;
  subject: string | null;
  traceparent: string | null;
}

export interface NewEventKey {
  publisherId: string;
  key: string;
  fingerprint: Buffer;
}

export interface TakenKey {
  eventId: string;
  fingerprint: Buffer;
}

const INSERT_EVENTS = statement('insert_events')`
    insert into webhook_service.events (id, name, user_id, publisher_id, body, traceparent, subject)
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])`;

/** Inserts the event only if it acquires its key. Waits for another open transaction that has inserted the key. */
const INSERT_KEYED_EVENT = statement('insert_keyed_event')`
    with won as (
      insert into webhook_service.event_keys (publisher_id, key, event_id, fingerprint)
      values ($8, $9, $1, $10) on conflict do nothing returning event_id
    )
    insert into webhook_service.events (id, name, user_id, publisher_id, body, traceparent, subject)
    select $1::uuid, $2, $3, $4, $5, $6, $7 from won returning id`;

const FIND_KEY = statement('find_event_key')`
    select event_id as "eventId", fingerprint from webhook_service.event_keys where publisher_id = $1 and key = $2`;

const FIND_EVENT = statement('find_keyed_event')`
    select name, user_id as "userId", body from webhook_service.events where id = $1`;

/** Inserts only keys that are free. Waits for another open transaction that has inserted one of them. */
const INSERT_KEYS = `
  insert into webhook_service.event_keys (publisher_id, key, event_id, fingerprint)
  select * from unnest($1::text[], $2::text[], $3::uuid[], $4::bytea[]) on conflict do nothing`;

const FIND_KEYS = `
  select key, event_id as "eventId", fingerprint from webhook_service.event_keys
  where publisher_id = $1 and key = any($2::text[])`;

@Injectable()
export class EventsRepository {
  constructor(private readonly statements: StatementsService) {}

  async insert(events: readonly NewEvent[], manager?: EntityManager): Promise<void> {
    const columns = [
      events.map(({ id }) => id),
      events.map(({ name }) => name),
      events.map(({ userId }) => userId),
      events.map(({ publisherId }) => publisherId),
      events.map(({ body }) => body),
      events.map(({ traceparent }) => traceparent),
      events.map(({ subject }) => subject),
    ];
    await this.run(INSERT_EVENTS, columns, manager);
  }

  /** Inserts the event and its key. Returns false, and inserts nothing, when another event already holds the key. */
  async insertKeyed(event: NewEvent, key: NewEventKey, manager?: EntityManager): Promise<boolean> {
    const { id, name, userId, publisherId, body, traceparent, subject } = event;
    const values = [id, name, userId, publisherId, body, traceparent, subject];
    const rows = await this.run(INSERT_KEYED_EVENT, [...values, key.publisherId, key.key, key.fingerprint], manager);
    return rows.length > 0;
  }

  async findKey(key: NewEventKey, manager?: EntityManager): Promise<TakenKey | null> {
    const [taken] = await this.run(FIND_KEY, [key.publisherId, key.key], manager);
    return (taken as TakenKey | undefined) ?? null;
  }

  /** Returns whether a publication repeats the event that holds its key. `holder` is that event if it is not stored yet. */
  async isRepeat(
    event: NewEvent,
    key: NewEventKey,
    taken: TakenKey,
    manager?: EntityManager,
    holder?: NewEvent,
  ): Promise<boolean> {
    if (taken.fingerprint.equals(key.fingerprint)) return true;
    const stored = holder ?? (await this.run(FIND_EVENT, [taken.eventId], manager))[0];
    return stored !== undefined && isSameEvent(stored as NewEvent, event);
  }

  async insertKeys(manager: EntityManager, keys: readonly (NewEventKey & { eventId: string })[]): Promise<void> {
    await manager.query(INSERT_KEYS, [
      keys.map(({ publisherId }) => publisherId),
      keys.map(({ key }) => key),
      keys.map(({ eventId }) => eventId),
      keys.map(({ fingerprint }) => fingerprint),
    ]);
  }

  findKeys(
    manager: EntityManager,
    publisherId: string,
    keys: readonly string[],
  ): Promise<(TakenKey & { key: string })[]> {
    return manager.query(FIND_KEYS, [publisherId, keys]);
  }

  private async run(statement: { name: string; text: string }, values: unknown[], manager?: EntityManager) {
    if (manager) return manager.query<Record<string, unknown>[]>(statement.text, values);
    return this.statements.run<Record<string, unknown>>(statement, values);
  }
}
