import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { StatementsService } from '../../plumbing/database/statements.service';
import type { Cursor } from './queue-stream';

/** What a process that may read a queue begins with. */
export interface Held {
  cursor: Cursor;
  /** Has any job of this queue named a user so far? */
  namesUsers: boolean;
}

/** Where a queue's reading goes on, for one process at a time. */
export interface Advance {
  queue: string;
  holder: string;
  from: Cursor;
  to: Cursor;
  namesUsers: boolean;
}

const BEGIN = {
  name: 'begin_queue_position',
  text: `
    insert into webhook_service.queue_positions (queue, position, seen) values ($1, $2, $3)
    on conflict do nothing returning queue`,
};

/** Succeeds for the process that holds the queue, and for another one when that has not renewed for six seconds. */
const HOLD = {
  name: 'hold_queue_position',
  text: `
    update webhook_service.queue_positions
    set holder = $2, held_until = clock_timestamp() + interval '6 seconds'
    where queue = $1 and (holder = $2 or held_until < clock_timestamp())
    returning position, seen, names_users as "namesUsers"`,
};

const IS_KNOWN = {
  name: 'is_queue_position_known',
  text: `select 1 from webhook_service.queue_positions where queue = $1`,
};

const RELEASE = {
  name: 'release_queue_position',
  text: `
    update webhook_service.queue_positions set holder = '', held_until = '-infinity' where queue = $1 and holder = $2`,
};

/** Whoever else reads the queue waits for this transaction, and then finds it further on. */
const ADVANCE = `
  with advanced as (
    update webhook_service.queue_positions
    set position = $4, seen = $5, names_users = names_users or $6,
      held_until = clock_timestamp() + interval '6 seconds'
    where queue = $1 and holder = $2 and position = $3
    returning queue
  )
  select queue from advanced`;

/** How far each queue has been read, and by whom. */
@Injectable()
export class QueuePositionsRepository {
  constructor(private readonly statements: StatementsService) {}

  async isKnown(queue: string): Promise<boolean> {
    return (await this.statements.run(IS_KNOWN, [queue])).length > 0;
  }

  /** False when another process was quicker. */
  async begin(queue: string, { position, seen }: Cursor): Promise<boolean> {
    return (await this.statements.run(BEGIN, [queue, position, seen])).length > 0;
  }

  /** Takes or renews the right to read the queue; null while another process has it. */
  async hold(queue: string, holder: string): Promise<Held | null> {
    const rows = await this.statements.run<{ position: string; seen: string[]; namesUsers: boolean }>(HOLD, [
      queue,
      holder,
    ]);
    const [row] = rows;
    return row ? { cursor: { position: row.position, seen: row.seen }, namesUsers: row.namesUsers } : null;
  }

  async release(queue: string, holder: string): Promise<void> {
    await this.statements.run(RELEASE, [queue, holder]);
  }

  /** False when another process reads the queue meanwhile: then nothing of this transaction may be kept. */
  async advance({ queue, holder, from, to, namesUsers }: Advance, manager: EntityManager): Promise<boolean> {
    const values = [queue, holder, from.position, to.position, to.seen, namesUsers];
    return (await manager.query<unknown[]>(ADVANCE, values)).length > 0;
  }
}
