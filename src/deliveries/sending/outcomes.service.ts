import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { whileBusy } from '../../infrastructure/concurrency/pauses.timer';
import { isDatabaseUnavailable, isLocked } from '../../infrastructure/errors/database-error';
import { RollUpService } from '../../webhooks/stats/roll-up.service';
import type { Attempted, FirstAttempt, Outcome, Written } from '../rows/attempt';
import { type FirstRow, OutcomesRepository } from '../rows/outcomes.repository';
import { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import type { Wait } from '../rows/waits';
import { SendQueue } from '../send.queue';
import { AttemptReportsService } from './attempt-reports.service';
import { AutoDisableService } from './auto-disable.service';

const KEEP_FOR_MS = 120_000;
/** A pending row whose webhook is locked for longer is left to the sweeper, so that its event makes room for those of others. */
const PENDING_WITHIN_MS = 1000;
const WRITE_AGAIN_AFTER_MS = 250;

/**
 * The end of every attempt, whether a request or a consumer made it: writes the outcome, into its row or as its row, and does what
 * follows. Keeps outcomes while PostgreSQL is unavailable, because the requests were made and further attempts would duplicate them.
 */
@Injectable()
export class OutcomesService {
  constructor(
    private readonly rows: OutcomesRepository,
    private readonly waiting: WaitingRowsRepository,
    private readonly queue: SendQueue,
    private readonly rollUp: RollUpService,
    private readonly reports: AttemptReportsService,
    private readonly autoDisable: AutoDisableService,
  ) {}

  /** Writes the outcome into its row. Returns null when the row was already final. Throws when writing has failed for two minutes. */
  update(outcome: Outcome): Promise<Written | null> {
    return this.keep(() => this.updateOne(outcome));
  }

  /** Like `update`, but throws at once while PostgreSQL is unavailable, and while another transaction has locked a row for `withinMs`. */
  async settle(outcome: Outcome, withinMs: number): Promise<Written | null> {
    const written = await this.updateOne(outcome, withinMs);
    this.rollUp.note();
    return written;
  }

  /** Inserts the row with its outcome, or updates an existing row. Otherwise like `update`. */
  insert(first: FirstAttempt, outcome: Outcome): Promise<Written | null> {
    return this.keep(async () => {
      const written = await this.insertOne({ first, outcome, deferred: false });
      // Only pending rows are stopped.
      return written === null || written === 'stopped' ? this.updateOne(outcome) : written;
    });
  }

  /**
   * Does what follows a written outcome: reports the attempt, enqueues the next one, and counts the final outcome of the event for
   * the webhook. Never throws because of the queue.
   * @param written null when another process had already written an outcome
   */
  async follow(attempt: Attempted, outcome: Outcome, written: Written | null): Promise<void> {
    this.reports.report(attempt, outcome, written);
    if (!written) return;
    // No job makes the attempts of consumers.
    if (written.nextId !== null && outcome.exchange?.url)
      await this.queue.enqueue([written.nextId], attempt, written.nextInMs ?? 0);
    if (outcome.finalStatus !== null) await this.autoDisable.note(attempt, outcome, written);
  }

  /**
   * Inserts a pending row. Returns false when a row already exists, and 'stopped' as `OutcomesRepository.insert` does. Throws while
   * PostgreSQL is unavailable, and when its webhook is locked for a second.
   */
  async insertPending(first: FirstAttempt, deferred: boolean): Promise<boolean | 'stopped'> {
    const written = await this.insertOne({ first, outcome: null, deferred }, PENDING_WITHIN_MS);
    return written === 'stopped' ? written : written !== null;
  }

  /** Puts a claimed row back, to be attempted again later. Throws while PostgreSQL is unavailable. */
  async putBack(id: string, wait: Wait): Promise<void> {
    await this.waiting.putBack(id, wait);
    this.reports.putBack(wait);
  }

  private insertOne(row: FirstRow, withinMs?: number): Promise<Written | 'stopped' | null> {
    return whileBusy(() => this.rows.insert(row), withinMs);
  }

  private updateOne(outcome: Outcome, withinMs?: number): Promise<Written | null> {
    return whileBusy(() => this.rows.update(outcome), withinMs);
  }

  private async keep(write: () => Promise<Written | null>): Promise<Written | null> {
    const giveUpAt = Date.now() + KEEP_FOR_MS;
    for (;;) {
      try {
        const written = await write();
        this.rollUp.note();
        return written;
      } catch (error) {
        if ((!isDatabaseUnavailable(error) && !isLocked(error)) || Date.now() > giveUpAt) throw error;
        await pause(WRITE_AGAIN_AFTER_MS);
      }
    }
  }
}
