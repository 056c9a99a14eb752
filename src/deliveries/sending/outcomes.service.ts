import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { whileBusy } from '../../infrastructure/concurrency/while-busy.timer';
import { isDatabaseUnavailable } from '../../infrastructure/errors/database-error';
import type { FirstAttempt, Outcome, Written } from '../attempt';
import { RollUpService } from '../../webhooks/stats/roll-up.service';
import { SendQueue } from '../send.queue';
import type { PartitionKey } from '../partition-key';
import { type FirstRow, OutcomesRepository } from './outcomes.repository';

const KEEP_FOR_MS = 120_000;
const WRITE_AGAIN_AFTER_MS = 250;

/**
 * Writes the outcomes of attempts, into their rows or together with them. Keeps outcomes while PostgreSQL is unavailable, because
 * the requests were made and further attempts would duplicate them.
 */
@Injectable()
export class OutcomesService {
  constructor(
    private readonly rows: OutcomesRepository,
    private readonly queue: SendQueue,
    private readonly rollUp: RollUpService,
  ) {}

  /**
   * Writes the outcome into its row. Returns null when the row was already final. Throws when writing has failed for two minutes.
   */
  update(outcome: Outcome): Promise<Written | null> {
    return this.keep(() => this.updateOne(outcome));
  }

  /** Like `update`, but throws at once while PostgreSQL is unavailable. */
  async settle(outcome: Outcome): Promise<Written | null> {
    const written = await this.updateOne(outcome);
    this.rollUp.note();
    return written;
  }

  /** Inserts the row with its outcome, or updates an existing row. Otherwise like `update`. */
  insert(first: FirstAttempt, outcome: Outcome): Promise<Written | null> {
    return this.keep(
      async () => (await this.insertOne({ first, outcome, deferred: false })) ?? (await this.updateOne(outcome)),
    );
  }

  /** Enqueues the retry that follows an outcome, if any. Never throws because of the queue. */
  async enqueueNext({ nextId, nextInMs }: Written, key: PartitionKey): Promise<void> {
    if (nextId !== null) await this.queue.enqueue([nextId], key, nextInMs ?? 0);
  }

  /** Inserts a pending row. Returns false when a row already exists. Throws while PostgreSQL is unavailable. */
  async insertPending(first: FirstAttempt, deferred: boolean): Promise<boolean> {
    return (await this.insertOne({ first, outcome: null, deferred })) !== null;
  }

  private insertOne(row: FirstRow): Promise<Written | null> {
    return whileBusy(() => this.rows.insert(row));
  }

  private updateOne(outcome: Outcome): Promise<Written | null> {
    return whileBusy(() => this.rows.update(outcome));
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
