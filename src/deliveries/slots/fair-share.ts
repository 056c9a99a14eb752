import type { Lane } from '../lane';

/** How an attempt ended for its lane; null when none was made. */
export type Pace = 'fast' | 'slow' | null;

interface LaneState {
  inFlight: number;
  /** Attempts that may be in flight at once: halved by a slow one while others wait, doubled by every other one. */
  cap: number;
  /** When its first attempt began, or its last one ended, in ms. */
  movedAt: number;
}

/** A webhook that has all its attempts in flight is stuck when none of them has ended for this long. */
const STUCK_AFTER_MS = 200;
/** A lane that found no slot counts as waiting for this long. One that still waits asks again with each slot that is released. */
const WAITS_FOR_MS = 1000;

/**
 * Decides which lane may begin an attempt in this process. A webhook may have as many attempts in flight as its cap.
 * Neither a webhook nor a user may hold more slots than are still free: however many a busy one holds, the next one finds
 * as many again. Being slow is no offence: a cap falls only while another lane waits for slots.
 */
export class FairShare {
  private readonly webhooks = new Map<string, LaneState>();
  /** The attempts in flight of each user who has any. */
  private readonly users = new Map<string, number>();
  private inFlight = 0;
  /** The last two lanes that found no slot, and when. */
  private waiting: { webhookId: string; at: number }[] = [];

  /**
   * @param slots attempts in flight altogether, at least 1
   * @param webhookCap attempts in flight for one webhook while it is fast, at least 1
   */
  constructor(
    private readonly slots: number,
    private readonly webhookCap: number,
  ) {}

  /** Slots that nobody holds. */
  get free(): number {
    return Math.max(0, this.slots - this.inFlight);
  }

  /**
   * True when the lane may have one more attempt in flight. False: it waits for its own attempts, or for slots that others hold.
   * @param now in ms, of a clock that never goes back
   */
  mayBegin({ webhookId, userId }: Lane, now: number): boolean {
    const { inFlight = 0, cap = this.webhookCap } = this.webhooks.get(webhookId) ?? {};
    if (inFlight >= cap) return false;
    if (inFlight <= this.free && this.userMayBegin(userId)) return true;
    this.waiting = [{ webhookId, at: now }, ...this.waiting.filter((lane) => lane.webhookId !== webhookId)].slice(0, 2);
    return false;
  }

  /** True when the user may have one more attempt in flight, at some webhook. */
  userMayBegin(userId: string): boolean {
    const { free } = this;
    return free > 0 && (this.users.get(userId) ?? 0) <= free;
  }

  /** True when the webhook's cap has fallen, or when it has all its attempts in flight and none ends. */
  isStuck({ webhookId }: Lane, now: number): boolean {
    const state = this.webhooks.get(webhookId);
    if (!state) return false;
    return state.cap < this.webhookCap || (state.inFlight >= state.cap && now - state.movedAt > STUCK_AFTER_MS);
  }

  /**
   * Counts an attempt that begins, whether or not it may.
   * @param now in ms, of a clock that never goes back
   */
  begin({ webhookId, userId }: Lane, now: number): void {
    this.inFlight += 1;
    this.users.set(userId, (this.users.get(userId) ?? 0) + 1);
    const state = this.webhooks.get(webhookId);
    if (state) state.inFlight += 1;
    else this.webhooks.set(webhookId, { inFlight: 1, cap: this.webhookCap, movedAt: now });
  }

  /** Counts an attempt that has ended. Its pace changes the webhook's cap. */
  end({ webhookId, userId }: Lane, pace: Pace, now: number): void {
    this.inFlight -= 1;
    const ofUser = (this.users.get(userId) ?? 0) - 1;
    if (ofUser > 0) this.users.set(userId, ofUser);
    else this.users.delete(userId);
    const state = this.webhooks.get(webhookId);
    if (!state) return;
    state.inFlight -= 1;
    state.movedAt = now;
    if (pace === 'slow' && this.othersWait(webhookId, now)) state.cap = Math.max(1, Math.floor(state.cap / 2));
    else if (pace !== null) state.cap = Math.min(this.webhookCap, state.cap * 2);
    if (state.inFlight === 0 && state.cap === this.webhookCap) this.webhooks.delete(webhookId);
  }

  private othersWait(webhookId: string, now: number): boolean {
    return this.waiting.some((lane) => lane.webhookId !== webhookId && now - lane.at <= WAITS_FOR_MS);
  }

  /** Forgets the pace of webhooks that have nothing in flight. Call it seldom: a slow webhook becomes fast by it. */
  forgetIdle(): void {
    for (const [webhookId, { inFlight }] of this.webhooks) if (inFlight === 0) this.webhooks.delete(webhookId);
  }
}
