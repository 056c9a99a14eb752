import type { DataSource } from 'typeorm';
import { MINUTE_MS, SECOND_MS } from '../config/durations';
import { BEFORE_ALL_IDS, MAX_ID } from './id-time';
import { StatementsService } from './statements.service';

/** Most users of a turn, and most rows of each. */
const USERS = 100;
const ROWS = 10;
/** A user whose rows have all had their turn rests before the first of them has another one. */
const REST_MS = SECOND_MS / 2;
/** Where a user's turn begins is forgotten when the user is not met for this long: then all rows are gone. */
const FORGET_MS = MINUTE_MS;

interface Found {
  userId: string;
  webhookId: string | null;
}

/** Where a user's next turn begins, until a time by `performance.now()`. */
interface Place {
  afterId: string;
  untilMs: number;
}

/**
 * Finds the rows of webhooks that a background task works at, in turns: a few rows of each user, so that nobody waits for all
 * rows of another. Needs an index on `user_id, webhook_id` with the condition `where`.
 */
export class UserTurns<Row extends { userId: string; webhookId: string }> {
  private readonly statements: StatementsService;
  private readonly sql: string;
  private afterUser = '';
  private places = new Map<string, Place>();
  private placesBefore = new Map<string, Place>();

  /** @param columns further columns of the table, as `, id` */
  constructor(dataSource: DataSource, table: string, where: string, columns = '') {
    this.statements = new StatementsService(dataSource);
    const nextUser = (after: string) =>
      `select user_id from webhook_service.${table} where ${where} and user_id > ${after} order by user_id limit 1`;
    this.sql = `
      with recursive users as (
        (select user_id, 1 as n from (${nextUser('$1')}) as first)
        union all
        select next.user_id, n + 1 from users cross join lateral (${nextUser('users.user_id')}) as next where n < ${USERS}
      )
      select users.user_id as "userId", own.*
      from users left join unnest($2::text[], $3::uuid[]) as place (user_id, after_id) using (user_id)
      left join lateral (
        select webhook_id as "webhookId"${columns} from webhook_service.${table}
        where ${where} and user_id = users.user_id and webhook_id > coalesce(place.after_id, '${BEFORE_ALL_IDS}')
        order by webhook_id limit ${ROWS}
      ) as own on true
      order by n`;
  }

  /** Returns the rows whose turn it is; null when all users rest. */
  async next(): Promise<Row[] | null> {
    const now = performance.now();
    const places = new Map([...this.places].filter(([, { untilMs }]) => untilMs > now));
    const values = [this.afterUser, [...places.keys()], [...places.values()].map(({ afterId }) => afterId)];
    const found = await this.statements.runByIndex<Found>(this.sql, values);
    this.placesBefore = new Map(places);
    const counts = new Map<string, number>();
    for (const { userId, webhookId } of found) {
      const count = (counts.get(userId) ?? 0) + 1;
      counts.set(userId, count);
      if (webhookId !== null && count === ROWS) places.set(userId, { afterId: webhookId, untilMs: now + FORGET_MS });
      else if (webhookId !== null || places.get(userId)?.afterId !== MAX_ID)
        places.set(userId, { afterId: MAX_ID, untilMs: now + REST_MS });
    }
    this.places = places;
    this.afterUser = (counts.size === USERS && found.at(-1)?.userId) || '';
    const rows = found.filter(({ webhookId }) => webhookId !== null);
    return rows.length === 0 && this.afterUser === '' ? null : (rows as Row[]);
  }

  /** Lets a user's next turn begin where this one began: there is more to do for the same rows. */
  repeat(userId: string): void {
    const place = this.placesBefore.get(userId);
    if (place) this.places.set(userId, place);
    else this.places.delete(userId);
  }
}
