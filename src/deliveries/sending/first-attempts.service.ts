import { Injectable } from '@nestjs/common';
import { Batcher } from '../../plumbing/database/batcher';
import type { DueWebhook, FirstAttempt } from '../attempt';
import { ParkingService } from '../slots/parking.service';
import { SlotsService } from '../slots/slots.service';
import { AttemptsService } from './attempts.service';
import { FirstRowsRepository } from './first-rows.repository';
import { OutcomesService } from './outcomes.service';

const MAX_BATCH = 200;

/** Brings the deliveries of a new event to their first attempts, without a row where there is a slot soon. */
@Injectable()
export class FirstAttemptsService {
  private readonly webhooks = new Batcher<string, DueWebhook | null>((ids) => this.firstRows.webhooks(ids), MAX_BATCH);

  constructor(
    private readonly slots: SlotsService,
    private readonly parking: ParkingService,
    private readonly attempts: AttemptsService,
    private readonly outcomes: OutcomesService,
    private readonly firstRows: FirstRowsRepository,
  ) {}

  /**
   * Makes a first attempt whose webhook was read this moment, at once or from the line, or parks it. Resolves when it is
   * over. Throws while PostgreSQL is away: what has no row then is left to the lease of its event.
   * @param whenRow called when there is a row before the attempt is over
   */
  async attempt(first: FirstAttempt, whenRow: () => void): Promise<void> {
    // What is parked is older.
    if (this.parking.hasParked(first.webhookId)) return this.park(first);
    const acquired = this.slots.acquire(first);
    if (acquired !== true) {
      if (!(await acquired)) return this.park(first);
      first.webhook = await this.reload(first);
    }
    await this.attempts.makeFirst(first, (pace) => this.slots.release(first, pace), whenRow);
  }

  /** Parks a first attempt in a pending row. Throws while PostgreSQL is away. */
  async park(first: FirstAttempt): Promise<void> {
    if (await this.outcomes.insertPending(first, true)) this.parking.note([first]);
  }

  /** The webhook after its delivery has waited in the line; when it cannot be read, the slot is released. */
  private async reload(first: FirstAttempt): Promise<DueWebhook | null> {
    try {
      return await this.webhooks.add(first.webhookId);
    } catch (error) {
      this.slots.release(first, null);
      throw error;
    }
  }
}
