import { Injectable } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import type { Backlog, LetIn } from './parked-lanes';
import { FairShare, type Lane, type Pace } from './fair-share';
import { Permits } from './semaphore';

/** How often it is looked at whether a delivery that waits for a slot still waits in vain. */
const LOOK_EVERY_MS = 500;
/** After so many looks it has waited in any case: its row was read two seconds ago. */
const MAX_LOOKS = 4;

interface Waiting {
  lane: Lane;
  resolve: (began: boolean) => void;
  looks: number;
  timer: NodeJS.Timeout;
}

/** Hands out the attempts that this process may have in flight, see `FairShare`. */
@Injectable()
export class AttemptSlotsService {
  /** Deliveries that jobs may have in hand at once, read out of their rows, whether they wait for a slot or have one. */
  readonly hands: Permits;
  private readonly share: FairShare;
  private readonly line = new Set<Waiting>();
  private readonly waitingOf = new Map<string, number>();
  private onFree: () => void = () => undefined;

  constructor(config: Config) {
    this.hands = new Permits(config.deliveryConcurrency);
    this.share = new FairShare(config.deliveryConcurrency, config.webhookConcurrency);
  }

  /** Calls `listener` whenever a slot is given back and nobody in the line takes it. */
  whenFree(listener: () => void): void {
    this.onFree = listener;
  }

  /**
   * Takes a slot: at once, or within seconds when attempts at the webhook come to an end.
   * @returns false when there will be none; otherwise `leave` gives it back
   */
  enter(lane: Lane): boolean | Promise<boolean> {
    if (this.tryBegin(lane)) return true;
    if (this.waitsInVain(lane)) return false;
    return new Promise((resolve) => {
      const waiting = { lane, resolve, looks: 0, timer: setInterval(() => this.look(waiting), LOOK_EVERY_MS) };
      this.line.add(waiting);
      this.waitingOf.set(lane.userId, (this.waitingOf.get(lane.userId) ?? 0) + 1);
    });
  }

  /** Takes a slot even where there is none: for what a user waits for. */
  force(lane: Lane): void {
    this.share.begin(lane, performance.now());
  }

  /** Takes the slots that are free for the backlog, in fair turns. Each of them is given back with `leave`. */
  enterFrom(backlog: Backlog): LetIn[] {
    return this.share.free === 0 ? [] : backlog.next((lane) => this.tryBegin(lane));
  }

  leave(lane: Lane, pace: Pace): void {
    this.share.end(lane, pace, performance.now());
    for (const waiting of this.line) {
      if (this.share.free === 0) return;
      if (this.tryBegin(waiting.lane)) this.settle(waiting, true);
    }
    this.onFree();
  }

  /** Forgets how slow webhooks were that have had no attempt in flight for a while. */
  forgetIdle(): void {
    this.share.forgetIdle();
  }

  private tryBegin(lane: Lane): boolean {
    const may = this.share.mayBegin(lane);
    if (may) this.share.begin(lane, performance.now());
    return may;
  }

  private waitsInVain(lane: Lane): boolean {
    const now = performance.now();
    return this.share.isStuck(lane, now) || this.share.isSlow(lane.userId, this.waitingOf.get(lane.userId) ?? 0, now);
  }

  private look(waiting: Waiting): void {
    waiting.looks += 1;
    if (waiting.looks === MAX_LOOKS || this.waitsInVain(waiting.lane)) this.settle(waiting, false);
  }

  private settle(waiting: Waiting, began: boolean): void {
    this.line.delete(waiting);
    const { userId } = waiting.lane;
    const others = (this.waitingOf.get(userId) ?? 0) - 1;
    if (others > 0) this.waitingOf.set(userId, others);
    else this.waitingOf.delete(userId);
    clearInterval(waiting.timer);
    waiting.resolve(began);
  }
}
