import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { StatementsService, statement } from '../../infrastructure/database/statements.service';
import type { Cursor } from './queue-stream';

export interface Held {
  cursor: Cursor;
  /** Whether any job of this queue has named a user so far. */
  namesUsers: boolean;
}

export interface Advance {
  queue: string;
  holder: string;
  from: Cursor;
  to: Cursor;
  namesUsers: boolean;
}

const BEGIN = statement('begin_queue_position')`
    insert into webhook_service.queue_positions (queue, position, seen) values ($1, $2, $3)
    on conflict do nothing`;

/**
 * Succeeds for the process that holds the queue, and for another process when the holder was silent for 6 seconds, or
 * its hold came from a clock that was ahead.
 */
const HOLD = statement('hold_queue_position')`
    update webhook_service.queue_positions
    set holder = $2, held_until = clock_timestamp() + interval '6 seconds'
    where queue = $1 and (holder = $2 or held_until < clock_timestamp() or held_until > clock_timestamp() + interval '1 minute')
    returning json_build_object('position', position, 'seen', seen) as cursor, names_users as "namesUsers"`;

const IS_KNOWN = statement('is_queue_position_known')`select 1 from webhook_service.queue_positions where queue = $1`;

const RELEASE = statement('release_queue_position')`
    update webhook_service.queue_positions set holder = '', held_until = '-infinity' where queue = $1 and holder = $2`;

/** Another process that reads the queue waits for this transaction, and then finds that the position has moved. */
const ADVANCE = `
  with advanced as (
    update webhook_service.queue_positions
    set position = $4, seen = $5, names_users = names_users or $6,
      held_until = clock_timestamp() + interval '6 seconds'
    where queue = $1 and holder = $2 and position = $3
    returning queue
  )
  select queue from advanced`;

@Injectable()
export class QueuePositionsRepository {
  constructor(private readonly statements: StatementsService) {}

  async isKnown(queue: string): Promise<boolean> {
    return (await this.statements.run(IS_KNOWN, [queue])).length > 0;
  }

  /** Stores the first position of a queue, unless another process was faster. */
  async begin(queue: string, { position, seen }: Cursor): Promise<void> {
    await this.statements.run(BEGIN, [queue, position, seen]);
  }

  /** Acquires or extends the right to read the queue for six seconds; null while another process has it. */
  async hold(queue: string, holder: string): Promise<Held | null> {
    const [held] = await this.statements.run<Held>(HOLD, [queue, holder]);
    return held ?? null;
  }

  /** Releases the queue, so that another process can read it immediately. */
  async release(queue: string, holder: string): Promise<void> {
    await this.statements.run(RELEASE, [queue, holder]);
  }

  /** Moves the position in the caller's transaction. Returns false if another process reads the queue; then roll back. */
  async advance({ queue, holder, from, to, namesUsers }: Advance, manager: EntityManager): Promise<boolean> {
    const values = [queue, holder, from.position, to.position, to.seen, namesUsers];
    return (await manager.query<unknown[]>(ADVANCE, values)).length > 0;
  }
}
