import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Attempt, ClaimedDelivery, FirstAttempt, PartitionKey } from '../rows/attempt';
import type { DueWebhook } from '../rows/due-webhook';
import type { ErrorCode } from '../rows/delivery-error';
import { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import { BacklogService } from '../slots/backlog.service';
import { DeferralService } from '../slots/deferral.service';
import { SlotsService } from '../slots/slots.service';
import { AttemptsService, type Begun } from './attempts.service';
import { unsent } from './classify';
import { ClaimsRepository } from '../rows/claims.repository';
import { OutcomesService } from './outcomes.service';
import { DAY_MS } from '../../infrastructure/config/durations';

const hasRate = ({ webhook }: Attempt): boolean => webhook !== null && webhook.maxPerSecond !== null;

/** Starts every delivery: it acquires a slot here, and is then claimed and attempted, or deferred. */
@Injectable()
export class DispatchService {
  constructor(
    private readonly slots: SlotsService,
    private readonly deferral: DeferralService,
    private readonly backlog: BacklogService,
    private readonly claims: ClaimsRepository,
    private readonly rows: WaitingRowsRepository,
    private readonly attempts: AttemptsService,
    private readonly outcomes: OutcomesService,
  ) {}

  /**
   * Attempts the delivery of a new event, which has no row yet and whose webhook was just read; defers it when no slot is free
   * soon. Resolves when the delivery has a row, with the rest of its attempt. Throws while PostgreSQL is unavailable; a delivery
   * without a row is then left to the lease of its event.
   */
  async attemptNew(first: FirstAttempt): Promise<Begun | void> {
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
    return this.attempts.makeFirst(first);
  }

  /**
   * It waits in a pending row, for a slot or for a consumer, unless too many deliveries of its webhook do, or the webhook was disabled
   * or deleted meanwhile.
   */
  async deferNew(first: FirstAttempt): Promise<void> {
    const { userId, webhookId, webhook } = first;
    if (this.backlog.isFull(webhookId)) return this.cancelNew(first, 'backlog_full');
    const isPushed = first.url !== null;
    const isInserted = await this.outcomes.insertPending(first, isPushed);
    if (isInserted === 'stopped')
      return this.cancelNew(first, (await this.claims.webhook(webhookId)) ? 'webhook_disabled' : 'webhook_deleted');
    if (!isInserted) return;
    this.backlog.note(webhookId);
    if (isPushed) this.deferral.note({ userId, webhookId, maxPerSecond: webhook?.maxPerSecond ?? null });
  }

  /** Attempts or defers a delivery of a queue job, unless it is final, deferred or claimed. */
  async attemptQueued(deliveryId: string, key: PartitionKey): Promise<void> {
    if (!(await this.slots.acquire(key))) return this.deferral.defer(deliveryId, key);
    let claimed: ClaimedDelivery | null = null;
    try {
      claimed = await this.claims.claim(deliveryId);
    } finally {
      if (!claimed || hasRate(claimed)) this.slots.release(key, null);
    }
    // The job may have started too early.
    if (!claimed) return this.rows.releaseLeases([deliveryId]);
    if (hasRate(claimed)) return this.deferral.defer(deliveryId, key, true);
    return this.attemptClaimed(claimed);
  }

  /** Attempts a delivery whose row is claimed and whose slot is held. Throws only when the infrastructure fails. */
  async attemptClaimed(delivery: ClaimedDelivery): Promise<void> {
    // Rows that wait for a slot are due already. A row that is due in more than a day was written by a clock that was ahead.
    if (delivery.dueInMs > 0 && delivery.dueInMs < DAY_MS) await pause(delivery.dueInMs);
    await this.attempts.make(delivery);
  }

  private async cancelNew(first: FirstAttempt, code: ErrorCode): Promise<void> {
    const outcome = unsent(first.id, 'canceled', code);
    return this.outcomes.follow(first, outcome, await this.outcomes.insert(first, outcome));
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
