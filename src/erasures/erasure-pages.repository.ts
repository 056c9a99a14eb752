import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { isOneOf } from '../deliveries/rows/found-by-id';
import { DELETE_DELIVERIES } from '../deliveries/rows/outcomes.repository';
import { DELETE_AND_MARK, FORGET_CANCELED } from '../deliveries/rows/stopping-webhooks.repository';
import { BEFORE_ALL_IDS, idBounds } from '../infrastructure/database/id-time';
import { StatementsService } from '../infrastructure/database/statements.service';
import type { ErasureKind } from './erasure.entity';

const PAGE = 1000;

const rowsOf = (table: string, found: string): string =>
  `delete from webhook_service.${table} where ctid = any(array(${found} limit ${PAGE}))`;
const ofUser = (table: string, column = 'user_id'): string =>
  rowsOf(table, `select ctid from webhook_service.${table} where ${column} = $1`);
const ofOwner = (table: string, owner: 'webhook' | 'account'): string =>
  rowsOf(
    table,
    `select t.ctid from webhook_service.${owner}s o join webhook_service.${table} t on t.${owner}_id = o.id where o.user_id = $1`,
  );
const without = (table: string, column: string): string => `
  update webhook_service.${table} set ${column} = null
  where ctid = any(array(select ctid from webhook_service.${table} where ${column} = $1 limit ${PAGE}))`;

/** The tokens of the user and those created with them, directly or indirectly. Starts with those that created none. */
const TOKENS = `
  delete from webhook_service.access_tokens where id = any(array(
    with recursive made as (
      select id from webhook_service.access_tokens where user_id = $1
      union select t.id from webhook_service.access_tokens t join made on t.parent_id = made.id
    )
    select id from made
    where not exists (select from webhook_service.access_tokens t where t.parent_id = made.id) limit ${PAGE}))`;

/** Statements for a page of a user's rows, in the order in which they run. Each changes no row when there is none left. */
export const ERASURE_STEPS: readonly { kind: ErasureKind | null; statement: string }[] = [
  { kind: 'links', statement: ofUser('console_links') },
  { kind: 'tokens', statement: TOKENS },
  { kind: null, statement: ofOwner('staged_followers', 'account') },
  { kind: 'followers', statement: ofOwner('account_followers', 'account') },
  { kind: 'accounts', statement: ofUser('accounts') },
  { kind: 'recoveries', statement: ofOwner('recoveries', 'webhook') },
  { kind: null, statement: ofOwner('webhook_pauses', 'webhook') },
  { kind: 'webhooks', statement: DELETE_AND_MARK(PAGE) },
  { kind: null, statement: FORGET_CANCELED(PAGE) },
  { kind: 'keys', statement: ofUser('event_keys', 'publisher_id') },
  // The roll-up moves rows from the first table, which has no index and a few seconds of attempts, to the others.
  { kind: 'attemptCounts', statement: ofUser('recent_attempts') },
  { kind: 'attemptCounts', statement: ofUser('attempt_counts') },
  { kind: null, statement: ofUser('user_attempt_counts') },
  { kind: 'queueJobs', statement: ofUser('queue_jobs') },
  { kind: 'eventTypes', statement: without('event_types', 'declared_by') },
  { kind: null, statement: without('erasures', 'requested_by') },
];

/** A table of days: its rows are read first, so that only the partitions of these rows are changed. */
export interface DayRows {
  kind: ErasureKind;
  find: string;
  change: string;
}

const dayRows = (kind: ErasureKind, table: 'deliveries' | 'events', owner: string, change: string): DayRows => ({
  kind,
  // A deactivated webhook leaves the jobs of its canceled retries in the queue.
  find: `
    select id, ${table === 'events' ? 'false' : "status in ('pending', 'canceled')"} as "mayBeQueued"
    from webhook_service.${table} where ${owner} = $1 and id > $2 order by id limit ${PAGE}`,
  change,
});
const ofEvents = (change: string): string => `${change} where ${isOneOf('events', '$1::uuid[]')}`;

/** Deliveries come first: they could not be shown without their events. Events that the user published for others stay. */
export const DAY_ROWS: readonly DayRows[] = [
  dayRows('deliveries', 'deliveries', 'user_id', DELETE_DELIVERIES),
  dayRows('events', 'events', 'user_id', ofEvents('delete from webhook_service.events')),
  dayRows(
    'eventsForOthers',
    'events',
    'nullif(publisher_id, user_id)',
    ofEvents('update webhook_service.events set publisher_id = null, traceparent = null'),
  ),
];

export interface FoundRow {
  id: string;
  /** Whether a queue may have a job of the row. */
  mayBeQueued: boolean;
}

@Injectable()
export class ErasurePagesRepository {
  constructor(private readonly statements: StatementsService) {}

  /** Runs the statement of a step for a page. Returns the number of changed rows. */
  async change(manager: EntityManager, statement: string, userId: string): Promise<number> {
    const [, count] = await manager.query<[unknown, number]>(statement, [userId]);
    return count;
  }

  /** Returns the next page of a user's rows after an id, in the order of their ids. */
  find({ find }: DayRows, userId: string, afterId: string = BEFORE_ALL_IDS): Promise<FoundRow[]> {
    return this.statements.runByIndex(find, [userId, afterId]);
  }

  async changeAll(manager: EntityManager, { change }: DayRows, ids: readonly string[]): Promise<number> {
    const [, count] = await manager.query<[unknown, number]>(change, [ids, ...idBounds(ids)]);
    return count;
  }
}
