import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import type { Grant, PartitionKey } from '../rows/attempt';
import { FairShare, type Speed } from './fair-share';
import { RoundRobin } from './round-robin';

/** How often waiting deliveries are checked for timeouts and stuck webhooks. */
const CHECK_EVERY_MS = 250;
const MAX_WAIT_MS = 1000;
/** Maximum number of waiting deliveries. No user may have more of them than there are free places. */
const MAX_WAITING = 20_000;

interface Waiting {
  key: PartitionKey;
  since: number;
  resolve: (acquired: boolean) => void;
}

/**
 * The slots of this process. A slot is a request in flight; `FairShare` decides whose request is next. A due delivery is in one
 * of these states:
 *
 * | state    | meaning                                                   | next state                                  |
 * | -------- | --------------------------------------------------------- | ------------------------------------------- |
 * | queued   | a queue job or a new event has brought it to this process | holding, or waiting                         |
 * | waiting  | in the in-memory queue, for at most 1 s                   | holding a released slot, otherwise deferred |
 * | deferred | in its row, for any worker; see `DeferralService`         | holding, round robin                        |
 * | holding  | its row is claimed and its request is in flight           | final, written by `OutcomesService`         |
 *
 * A delivery is deferred without waiting when its webhook is stuck, or when its user already has as many waiting deliveries as
 * there are free places. A released slot goes to waiting deliveries first, then to deferred ones.
 */
@Injectable()
export class SlotsService {
  private readonly share: FairShare;
  private readonly keys = new RoundRobin();
  private readonly queues = new Map<string, Waiting[]>();
  private readonly waitingOf = new Map<string, number>();
  private waiting = 0;
  private checking: NodeJS.Timeout | null = null;
  private onFree: () => void = () => undefined;

  constructor(config: Config) {
    this.share = new FairShare(config.deliveryConcurrency, config.webhookConcurrency);
  }

  /** Calls `listener` whenever a slot is released and no waiting delivery takes it. */
  whenFree(listener: () => void): void {
    this.onFree = listener;
  }

  /** Acquires a slot within a second, which the caller releases; false when the delivery must be deferred. Never throws. */
  acquire(key: PartitionKey): boolean | Promise<boolean> {
    if (this.tryAcquire(key)) return true;
    const ofUser = this.waitingOf.get(key.userId) ?? 0;
    if (ofUser >= MAX_WAITING - this.waiting || this.share.isStuck(key, performance.now())) return false;
    return new Promise((resolve) => this.enter({ key, since: performance.now(), resolve }));
  }

  /** Acquires free slots for deferred deliveries, round robin. The caller releases each of them. */
  acquireFor(deferred: RoundRobin): Grant[] {
    return this.nextOf(deferred, (key) => this.tryAcquire(key));
  }

  /** Releases a slot. A waiting delivery takes it; otherwise the listener of `whenFree` is called. */
  release(key: PartitionKey, speed: Speed): void {
    this.share.end(key, speed, performance.now());
    if (this.waiting > 0) this.forgetEmpty(this.nextOf(this.keys, (next) => this.grantFirst(next)));
    if (this.share.free > 0) this.onFree();
  }

  forgetIdle(): void {
    this.share.forgetIdle();
  }

  private nextOf(keys: RoundRobin, tryAcquire: (key: PartitionKey) => boolean): Grant[] {
    if (this.share.free === 0) return [];
    return keys.next(tryAcquire, (userId) => this.share.userMayBegin(userId));
  }

  private tryAcquire(key: PartitionKey): boolean {
    const now = performance.now();
    const may = this.share.mayBegin(key, now);
    if (may) this.share.begin(key, now);
    return may;
  }

  private enter(waiting: Waiting): void {
    const { webhookId, userId } = waiting.key;
    const others = this.queues.get(webhookId);
    if (others) others.push(waiting);
    else this.queues.set(webhookId, [waiting]);
    this.keys.add(waiting.key);
    this.waiting += 1;
    this.waitingOf.set(userId, (this.waitingOf.get(userId) ?? 0) + 1);
    this.checking ??= setInterval(() => this.check(), CHECK_EVERY_MS).unref();
  }

  /** Grants a slot to the first waiting delivery of a webhook. Returns false when none waits or no slot is available. */
  private grantFirst(key: PartitionKey): boolean {
    const waiting = this.queues.get(key.webhookId);
    if (!waiting?.length || !this.tryAcquire(key)) return false;
    this.leave(waiting, true);
    return true;
  }

  /** Ends the wait of deliveries that have waited for a second, and of all deliveries of stuck webhooks. */
  private check(): void {
    const now = performance.now();
    for (const [webhookId, waiting] of [...this.queues]) {
      for (let first = waiting[0]; first; first = waiting[0]) {
        if (now - first.since < MAX_WAIT_MS && !this.share.isStuck(first.key, now)) break;
        this.leave(waiting, false);
      }
      this.forgetEmpty([{ webhookId }]);
    }
  }

  private leave(waiting: Waiting[], acquired: boolean): void {
    const { key, resolve } = waiting.shift() as Waiting;
    this.waiting -= 1;
    const ofUser = (this.waitingOf.get(key.userId) ?? 0) - 1;
    if (ofUser > 0) this.waitingOf.set(key.userId, ofUser);
    else this.waitingOf.delete(key.userId);
    resolve(acquired);
  }

  private forgetEmpty(keys: readonly Pick<PartitionKey, 'webhookId'>[]): void {
    for (const { webhookId } of keys) {
      if (this.queues.get(webhookId)?.length !== 0) continue;
      this.queues.delete(webhookId);
      this.keys.remove(webhookId);
    }
    if (this.waiting > 0 || !this.checking) return;
    clearInterval(this.checking);
    this.checking = null;
  }
}
