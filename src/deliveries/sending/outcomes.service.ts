import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Batcher } from '../../plumbing/database/batcher';
import { whileBusy } from '../../plumbing/database/while-busy.timer';
import { isDatabaseUnavailable } from '../../plumbing/errors/database-error';
import type { FirstAttempt, Outcome, Written } from '../attempt';
import { DeliveriesRepository } from '../deliveries.repository';
import { RollUpService } from '../../webhooks/stats/roll-up.service';
import { SendQueue } from '../send.queue';
import type { Lane } from '../lane';
import { type FirstRow, FirstRowsRepository } from './first-rows.repository';

const MAX_BATCH = 200;
const KEEP_FOR_MS = 120_000;
const WRITE_AGAIN_AFTER_MS = 250;

/**
 * Writes what attempts came to: into their rows, or together with their rows. Keeps outcomes while PostgreSQL is away,
 * because the requests were made, and other attempts would double them.
 */
@Injectable()
export class OutcomesService {
  private readonly updates = new Batcher<Outcome, Written | null | 'busy'>(async (outcomes) => {
    const written = await this.deliveries.record(outcomes);
    return outcomes.map(({ deliveryId }) => written.get(deliveryId) ?? null);
  }, MAX_BATCH);
  private readonly inserts = new Batcher<FirstRow, Written | null | 'busy'>(
    (rows) => this.firstRows.insert(rows),
    MAX_BATCH,
  );

  constructor(
    private readonly deliveries: DeliveriesRepository,
    private readonly firstRows: FirstRowsRepository,
    private readonly queue: SendQueue,
    private readonly rollUp: RollUpService,
  ) {}

  /** Writes the outcome into its row. Null: nothing was to be written any more. Throws after two minutes in vain. */
  update(outcome: Outcome): Promise<Written | null> {
    return this.keep(() => this.updateOne(outcome));
  }

  /** Inserts the row with its outcome, or updates it where there is one already. Otherwise like `update`. */
  insert(first: FirstAttempt, outcome: Outcome): Promise<Written | null> {
    return this.keep(
      async () => (await this.insertOne({ first, outcome, parked: false })) ?? (await this.updateOne(outcome)),
    );
  }

  /** Offers the attempt that follows an outcome, when one does. Never throws because of the queue. */
  async offerNext({ nextId, nextInMs }: Written, lane: Lane): Promise<void> {
    if (nextId !== null) await this.queue.offer([nextId], lane, nextInMs ?? 0);
  }

  /** Inserts a pending row. False: there was a row already. Throws while PostgreSQL is away. */
  async insertPending(first: FirstAttempt, parked: boolean): Promise<boolean> {
    return (await this.insertOne({ first, outcome: null, parked })) !== null;
  }

  private insertOne(row: FirstRow): Promise<Written | null> {
    return whileBusy(() => this.inserts.add(row));
  }

  private updateOne(outcome: Outcome): Promise<Written | null> {
    return whileBusy(() => this.updates.add(outcome));
  }

  private async keep(write: () => Promise<Written | null>): Promise<Written | null> {
    const giveUpAt = Date.now() + KEEP_FOR_MS;
    for (;;) {
      try {
        const written = await write();
        this.rollUp.note();
        return written;
      } catch (error) {
        if (!isDatabaseUnavailable(error) || Date.now() > giveUpAt) throw error;
        await pause(WRITE_AGAIN_AFTER_MS);
      }
    }
  }
}
