import { RecentCount } from './recent-count';

/** Whose attempt it is. */
export interface Lane {
  webhookId: string;
  userId: string;
}

/** How an attempt ended for its lane; null when none was made. */
export type Pace = 'fast' | 'slow' | null;

interface LaneState {
  inFlight: number;
  /** Attempts that may be in flight at once: halved by each slow one, doubled by each fast one. */
  cap: number;
  /** When its first attempt began, or its last one ended, in ms. */
  movedAt: number;
}

interface UserState {
  inFlight: number;
  /** When he began to have some, in ms. */
  since: number;
  ended: RecentCount;
}

/** So long nothing is known of the pace of a user who had nothing in flight. */
const UNKNOWN_FOR_MS = 500;
/** A user's attempts wait for slots as long as these are his attempts of so many seconds. */
const MAX_WAIT_S = 2;

/** A webhook that has all its attempts in flight, of which none ends for so long, is stuck. */
const STUCK_AFTER_MS = 200;

/**
 * Who may begin an attempt in this process. A webhook may have as many in flight as its cap, and neither it nor its user
 * more than the slots that are still free: however many of them a busy one holds, the next finds as many again.
 */
export class FairShare {
  private readonly webhooks = new Map<string, LaneState>();
  private readonly users = new Map<string, UserState>();
  private inFlight = 0;

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

  mayBegin({ webhookId, userId }: Lane): boolean {
    const { free } = this;
    if (free === 0) return false;
    const { inFlight = 0, cap = this.webhookCap } = this.webhooks.get(webhookId) ?? {};
    return inFlight < cap && inFlight <= free && (this.users.get(userId)?.inFlight ?? 0) <= free;
  }

  /** Whether waiting for one of its slots may take long: its last attempts were slow, or it has all of them and none ends. */
  isStuck({ webhookId }: Lane, now: number): boolean {
    const state = this.webhooks.get(webhookId);
    if (!state) return false;
    return state.cap < this.webhookCap || (state.inFlight >= state.cap && now - state.movedAt > STUCK_AFTER_MS);
  }

  /** Whether so many attempts that wait for this user's slots will wait too long, at the pace at which his come to an end. */
  isSlow(userId: string, waiting: number, now: number): boolean {
    const state = this.users.get(userId);
    return state !== undefined && now - state.since > UNKNOWN_FOR_MS && waiting > MAX_WAIT_S * state.ended.at(now);
  }

  /** @param now in ms, of a clock that never goes back */
  begin({ webhookId, userId }: Lane, now: number): void {
    this.inFlight += 1;
    const user = this.users.get(userId);
    if (user) user.inFlight += 1;
    else this.users.set(userId, { inFlight: 1, since: now, ended: new RecentCount(now) });
    const state = this.webhooks.get(webhookId);
    if (state) state.inFlight += 1;
    else this.webhooks.set(webhookId, { inFlight: 1, cap: this.webhookCap, movedAt: now });
  }

  end({ webhookId, userId }: Lane, pace: Pace, now: number): void {
    this.inFlight -= 1;
    this.endOf(userId, now);
    const state = this.webhooks.get(webhookId);
    if (!state) return;
    state.inFlight -= 1;
    state.movedAt = now;
    if (pace === 'slow') state.cap = Math.max(1, Math.floor(state.cap / 2));
    if (pace === 'fast') state.cap = Math.min(this.webhookCap, state.cap * 2);
    if (state.inFlight === 0 && state.cap === this.webhookCap) this.webhooks.delete(webhookId);
  }

  /** Forgets the pace of webhooks that have nothing in flight: nothing has been heard of them for a while. */
  forgetIdle(): void {
    for (const [webhookId, { inFlight }] of this.webhooks) if (inFlight === 0) this.webhooks.delete(webhookId);
  }

  private endOf(userId: string, now: number): void {
    const user = this.users.get(userId);
    if (!user) return;
    user.inFlight -= 1;
    user.ended.add(now);
    if (user.inFlight === 0) this.users.delete(userId);
  }
}
