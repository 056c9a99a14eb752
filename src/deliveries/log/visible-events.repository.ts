import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { IdWindow } from '../../infrastructure/pagination/id-window';

const IN_WINDOW = `
  ($2::uuid is null or e.id >= $2) and ($3::uuid is null or e.id < $3) and ($4::text is null or e.name = $4) and not e.is_test`;

/**
 * An event is visible to its user, its publisher, and the owners of webhooks that it was sent to. Each case is a branch of its
 * own with an index that starts at the newest row; one condition for all would search the events of all users. A redelivered
 * event may already be past retention. It sorts last, because the oldest days are dropped first.
 */
const NEWEST = `
  (select e.id from webhook_service.events e
   where e.user_id = $1 and ${IN_WINDOW} order by e.id desc limit $5)
  union
  (select e.id from webhook_service.events e
   where nullif(e.publisher_id, e.user_id) = $1 and ${IN_WINDOW} order by e.id desc limit $5)
  union
  (select distinct d.event_id from webhook_service.deliveries d
   where d.user_id = $1 and ($2::uuid is null or d.event_id >= $2) and ($3::uuid is null or d.event_id < $3)
     and ($4::text is null or d.event = $4) and d.trigger <> 'test' order by d.event_id desc limit $5)
  order by id desc limit $5`;

/** Finds the events that a user may see. */
@Injectable()
export class VisibleEventsRepository {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Returns the ids of the newest events in a window that the user may see. A null `name` matches every name. */
  async newest(userId: string, name: string | null, { from, before }: IdWindow, limit: number): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(NEWEST, [userId, from, before, name, limit]);
    return rows.map(({ id }) => id);
  }
}
