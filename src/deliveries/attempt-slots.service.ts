import { Injectable } from '@nestjs/common';
import { Config } from '../config/config';
import type { Backlog, LetIn } from './backlog';
import { FairShare, type Lane, type Pace } from './fair-share';
import { Permits } from './permits';

/** A webhook that is being served frees slots all the time: a delivery that waits this long is parked. */
const WAIT_MS = 500;

const HANDS_PER_SLOT = 2;

interface Waiting {
  lane: Lane;
  resolve: (began: boolean) => void;
  timer: NodeJS.Timeout;
}

/** Hands out the attempts that this process may have in flight, see `FairShare`. */
@Injectable()
export class AttemptSlotsService {
  /** Deliveries that jobs may have in hand at once, read out of their rows, whether they wait for a slot or have one. */
  readonly hands: Permits;
  private readonly share: FairShare;
  private readonly line = new Set<Waiting>();
  private onFree: () => void = () => undefined;

  constructor(config: Config) {
    this.hands = new Permits(HANDS_PER_SLOT * config.deliveryConcurrency);
    this.share = new FairShare(config.deliveryConcurrency, config.webhookConcurrency);
  }

  /** Calls `listener` whenever a slot is given back and nobody in the line takes it. */
  whenFree(listener: () => void): void {
    this.onFree = listener;
  }

  /**
   * Takes a slot: at once, or within a moment when attempts at the webhook come to an end.
   * @returns false when there is none; otherwise `leave` gives it back
   */
  enter(lane: Lane): boolean | Promise<boolean> {
    if (this.tryBegin(lane)) return true;
    if (this.share.isStuck(lane, performance.now())) return false;
    return new Promise((resolve) => {
      const waiting = { lane, resolve, timer: setTimeout(() => this.giveUp(waiting), WAIT_MS) };
      this.line.add(waiting);
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

  private giveUp(waiting: Waiting): void {
    this.settle(waiting, false);
  }

  private settle(waiting: Waiting, began: boolean): void {
    this.line.delete(waiting);
    clearTimeout(waiting.timer);
    waiting.resolve(began);
  }
}
