import { Injectable, Logger } from '@nestjs/common';
import { type WorkerTask, WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { WorkersService } from '../../infrastructure/queue/workers.service';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import type { ClaimedDelivery } from '../rows/attempt';
import { ClaimsRepository, type DispatchedDelivery } from '../rows/claims.repository';
import { DeferralService } from '../slots/deferral.service';
import { SlotsService } from '../slots/slots.service';
import { DispatchService } from './dispatch.service';

const POLL_INTERVAL_MS = 1000;
const FORGET_IDLE_EVERY_MS = 600_000;

/**
 * Dispatches deferred deliveries as slots become free, user by user. It tracks the webhooks for which this process defers
 * deliveries, and queries PostgreSQL every second because other processes defer deliveries too.
 */
@Injectable()
export class DeferredDispatchService implements WorkerTask {
  private readonly logger = new Logger(DeferredDispatchService.name);
  private readonly polling = new Repeat(() => this.poll(), {
    everyMs: POLL_INTERVAL_MS,
    onFailure: logFirst(this.logger, 'Querying deferred deliveries'),
  });
  private started = false;
  private dispatching = false;
  private failing = false;
  private idleForgottenAt = Date.now();

  constructor(
    private readonly slots: SlotsService,
    private readonly deferral: DeferralService,
    private readonly claims: ClaimsRepository,
    private readonly dispatch: DispatchService,
    private readonly workers: WorkersService,
    tasks: WorkerTasksService,
  ) {
    tasks.add(this);
  }

  start(): void {
    this.started = true;
    this.slots.whenFree(() => void this.dispatchAll());
    this.deferral.whenDeferred(() => void this.dispatchAll());
    this.polling.start();
  }

  /** Stops dispatching. Attempts in flight end by themselves. */
  async stop(): Promise<void> {
    this.started = false;
    await this.polling.stop();
  }

  private async poll(): Promise<void> {
    if (Date.now() - this.idleForgottenAt > FORGET_IDLE_EVERY_MS) {
      this.slots.forgetIdle();
      this.idleForgottenAt = Date.now();
    }
    await this.deferral.refresh();
    void this.dispatchAll();
  }

  private async dispatchAll(): Promise<void> {
    if (this.dispatching || !this.started) return;
    this.dispatching = true;
    try {
      while (this.started && this.deferral.keys.size > 0 && (await this.dispatchOnce()));
      this.failing = false;
    } catch (error) {
      if (!this.failing) this.logger.warn(`Dispatching deferred deliveries failed; retrying: ${String(error)}`);
      this.failing = true;
    } finally {
      this.dispatching = false;
    }
  }

  /** Returns false when no webhook can get a slot now. */
  private async dispatchOnce(): Promise<boolean> {
    const wanted = this.slots.acquireFor(this.deferral.keys);
    if (wanted.length === 0) return false;
    const unused = new Map(wanted.map((grant) => [grant.webhookId, { ...grant, claimed: 0 }]));
    try {
      for (const delivery of await this.claims.claimDeferred(wanted)) {
        const grant = unused.get(delivery.webhookId);
        if (!grant) continue;
        grant.count -= 1;
        grant.claimed += 1;
        this.restIfUsedUp(delivery);
        void this.workers.during(() => this.attempt(delivery));
      }
      for (const { webhookId, count, claimed } of unused.values())
        if (count > 0) this.deferral.forget(webhookId, claimed > 0);
      return true;
    } finally {
      for (const key of unused.values()) for (; key.count > 0; key.count -= 1) this.slots.release(key, null);
    }
  }

  private restIfUsedUp({ userId, webhookId, webhook, nextPermitInMs }: DispatchedDelivery): void {
    if (!nextPermitInMs) return;
    this.deferral.rest({ userId, webhookId, maxPerSecond: webhook?.maxPerSecond ?? null }, nextPermitInMs);
  }

  /** Never throws: the sweeper finds the row of a failed attempt when its lease has expired. */
  private async attempt(delivery: ClaimedDelivery): Promise<void> {
    try {
      await this.dispatch.attemptClaimed(delivery);
    } catch (error) {
      this.logger.warn(`Attempt ${delivery.id} failed; the sweeper will retry it: ${String(error)}`);
    }
  }
}
