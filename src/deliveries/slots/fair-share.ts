import type { PartitionKey } from '../rows/attempt';

/** Speed of an attempt; null when no request was made. */
export type Speed = 'fast' | 'slow' | null;

interface LimitState {
  inFlight: number;
  /** Maximum number of attempts in flight: halved by a slow attempt while others wait, doubled by every other attempt. */
  limit: number;
  /** When its first attempt began, or its last one ended, in ms. */
  movedAt: number;
}

/** A webhook at its concurrency limit is stuck when none of its attempts has ended for this long. */
const STUCK_AFTER_MS = 200;
/** A webhook that got no slot counts as waiting for this long. While it waits, it retries with each released slot. */
const WAITS_FOR_MS = 1000;

/**
 * Decides which attempts may begin in this process. A webhook has a concurrency limit. Neither a webhook nor a user may hold more
 * slots than are still free: however many a busy one holds, as many are left for the next. The limit of a slow webhook is lowered
 * only while another webhook waits for slots.
 */
export class FairShare {
  private readonly webhooks = new Map<string, LimitState>();
  private readonly users = new Map<string, number>();
  private inFlight = 0;
  /** The last two webhooks that got no slot, and when. */
  private waiting: { webhookId: string; at: number }[] = [];

  /** @param webhookLimit attempts in flight for one webhook while it is fast, at least 1 */
  constructor(
    private readonly slots: number,
    private readonly webhookLimit: number,
  ) {}

  get free(): number {
    return Math.max(0, this.slots - this.inFlight);
  }

  /** False means that the webhook waits for its own attempts, or for slots of others. */
  mayBegin({ webhookId, userId }: PartitionKey, now: number): boolean {
    const { inFlight = 0, limit = this.webhookLimit } = this.webhooks.get(webhookId) ?? {};
    if (inFlight >= limit) return false;
    if (inFlight <= this.free && this.userMayBegin(userId)) return true;
    this.waiting = [{ webhookId, at: now }, ...this.waiting.filter((key) => key.webhookId !== webhookId)].slice(0, 2);
    return false;
  }

  /** Returns true when the user may have one more attempt in flight, at any webhook. */
  userMayBegin(userId: string): boolean {
    const { free } = this;
    return free > 0 && (this.users.get(userId) ?? 0) <= free;
  }

  /** Returns true when the webhook's limit was lowered, or when the limit is reached and no attempt ends. */
  isStuck({ webhookId }: PartitionKey, now: number): boolean {
    const state = this.webhooks.get(webhookId);
    if (!state) return false;
    return state.limit < this.webhookLimit || (state.inFlight >= state.limit && now - state.movedAt > STUCK_AFTER_MS);
  }

  begin({ webhookId, userId }: PartitionKey, now: number): void {
    this.inFlight += 1;
    this.users.set(userId, (this.users.get(userId) ?? 0) + 1);
    const state = this.webhooks.get(webhookId);
    if (state) state.inFlight += 1;
    else this.webhooks.set(webhookId, { inFlight: 1, limit: this.webhookLimit, movedAt: now });
  }

  /** Counts an attempt that has ended. Its speed changes the webhook's limit. */
  end({ webhookId, userId }: PartitionKey, speed: Speed, now: number): void {
    this.inFlight -= 1;
    const ofUser = (this.users.get(userId) ?? 0) - 1;
    if (ofUser > 0) this.users.set(userId, ofUser);
    else this.users.delete(userId);
    const state = this.webhooks.get(webhookId);
    if (!state) return;
    state.inFlight -= 1;
    state.movedAt = now;
    if (speed === 'slow' && this.othersWait(webhookId, now)) state.limit = Math.max(1, Math.floor(state.limit / 2));
    else if (speed !== null) state.limit = Math.min(this.webhookLimit, state.limit * 2);
    if (state.inFlight === 0 && state.limit === this.webhookLimit) this.webhooks.delete(webhookId);
  }

  private othersWait(webhookId: string, now: number): boolean {
    return this.waiting.some((key) => key.webhookId !== webhookId && now - key.at <= WAITS_FOR_MS);
  }

  /** Resets the limits of webhooks without attempts in flight. Call it rarely: it raises the limit of a slow webhook. */
  forgetIdle(): void {
    for (const [webhookId, { inFlight }] of this.webhooks) if (inFlight === 0) this.webhooks.delete(webhookId);
  }
}
