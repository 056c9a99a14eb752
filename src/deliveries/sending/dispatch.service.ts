import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Attempt, ClaimedDelivery, FirstAttempt } from '../attempt';
import type { DueWebhook } from '../due-webhook';
import { DeliveriesRepository } from '../deliveries.repository';
import type { PartitionKey } from '../partition-key';
import { BacklogService } from '../slots/backlog.service';
import { DeferralService } from '../slots/deferral.service';
import { SlotsService } from '../slots/slots.service';
import { AttemptsService } from './attempts.service';
import { ClaimsRepository } from './claims.repository';
import { OutcomesService } from './outcomes.service';

/** Rows that wait for a slot are already due. A row that is due in more than a day was written by a clock that was ahead. */
const DAY_MS = 86_400_000;

const hasRate = ({ webhook }: Attempt): boolean => webhook !== null && webhook.maxPerSecond !== null;

/** Starts every delivery: it acquires a slot here, and is then claimed and attempted, or deferred. */
@Injectable()
export class DispatchService {
  constructor(
    private readonly slots: SlotsService,
    private readonly deferral: DeferralService,
    private readonly backlog: BacklogService,
    private readonly claims: ClaimsRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly attempts: AttemptsService,
    private readonly outcomes: OutcomesService,
  ) {}

  /**
   * Attempts the delivery of a new event, which has no row yet and whose webhook was just read; defers it when no slot is free
   * soon. Resolves when the attempt is over. Throws while PostgreSQL is unavailable; a delivery without a row is then left to the
   * lease of its event.
   * @param whenRow called when the delivery gets a row before the attempt is over
   */
  async attemptNew(first: FirstAttempt, whenRow: () => void): Promise<void> {
    // Deferred deliveries are older and go first. Those of a webhook with a rate are all deferred.
    const { webhookId } = first;
    if (first.url === null || this.deferral.hasDeferred(webhookId) || hasRate(first) || this.backlog.isFull(webhookId))
      return this.deferNew(first);
    const acquired = this.slots.acquire(first);
    if (acquired !== true) {
      if (!(await acquired)) return this.deferNew(first);
      first.webhook = await this.readWebhookAgain(first);
      if (hasRate(first)) {
        this.slots.release(first, null);
        return this.deferNew(first);
      }
    }
    await this.attempts.make(first, (speed) => this.slots.release(first, speed), whenRow);
  }

  /**
   * Defers the delivery of a new event: it waits in a pending row, for a slot or for a consumer. Cancels it instead when too many deliveries of its webhook are
   * pending. Throws while PostgreSQL is unavailable.
   */
  async deferNew(first: FirstAttempt): Promise<void> {
    const { userId, webhookId, webhook } = first;
    if (this.backlog.isFull(webhookId)) return this.attempts.cancelNew(first, 'backlog_full');
    const isPushed = first.url !== null;
    if (!(await this.outcomes.insertPending(first, isPushed))) return;
    this.backlog.note(webhookId);
    if (isPushed) this.deferral.note({ userId, webhookId, maxPerSecond: webhook?.maxPerSecond ?? null });
  }

  /**
   * Attempts or defers a delivery of a queue job. Does nothing when it is final, deferred or claimed. Throws only when the
   * infrastructure fails.
   */
  async attemptQueued(deliveryId: string, key: PartitionKey): Promise<void> {
    if (!(await this.slots.acquire(key))) return this.deferral.defer(deliveryId, key);
    let claimed: ClaimedDelivery | null = null;
    try {
      claimed = await this.claims.claim(deliveryId);
    } finally {
      if (!claimed || hasRate(claimed)) this.slots.release(key, null);
    }
    // The job may have started too early.
    if (!claimed) return this.deliveries.releaseLeases([deliveryId]);
    if (hasRate(claimed)) return this.deferral.defer(deliveryId, key, true);
    return this.attemptClaimed(claimed);
  }

  /** Attempts a delivery whose row is claimed and whose slot is held. Throws only when the infrastructure fails. */
  async attemptClaimed(delivery: ClaimedDelivery): Promise<void> {
    if (delivery.dueInMs > 0 && delivery.dueInMs < DAY_MS) await pause(delivery.dueInMs);
    await this.attempts.make(delivery, (speed) => this.slots.release(delivery, speed));
  }

  /** Reads the webhook again after its delivery has waited for a slot. Releases the slot when the read fails. */
  private async readWebhookAgain(first: FirstAttempt): Promise<DueWebhook | null> {
    try {
      return await this.claims.webhook(first.webhookId);
    } catch (error) {
      this.slots.release(first, null);
      throw error;
    }
  }
}
