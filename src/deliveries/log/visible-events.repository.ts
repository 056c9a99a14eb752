import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { IdWindow } from '../../plumbing/pagination/id-window';

const IN_WINDOW = `
  ($2::uuid is null or e.id >= $2) and ($3::uuid is null or e.id < $3) and ($4::text is null or e.name = $4) and not e.is_test`;

/**
 * Whom an event is visible to: its user, its publisher, and owners of webhooks that it went to. A branch for each, because
 * each has an index that leads from the newest on; together they would be looked for among everybody's events. An event
 * that was redelivered may be past retention by now: it is among the last, because days are dropped oldest first.
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

@Injectable()
export class VisibleEventsRepository {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** The newest events of a window that the user may see, of any name unless one is given. */
  async newest(userId: string, name: string | null, { from, before }: IdWindow, limit: number): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(NEWEST, [userId, from, before, name, limit]);
    return rows.map(({ id }) => id);
  }
}
