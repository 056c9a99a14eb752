import { Injectable } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import { FairShare, type Lane, type Pace } from './fair-share';
import type { Admission, ParkedLanes } from './parked-lanes';
import { Semaphore } from './semaphore';

/** How often a delivery in the line is asked whether waiting still makes sense. */
const LOOK_EVERY_MS = 500;
/** After this many looks the delivery leaves the line in any case: its row was read two seconds ago. */
const MAX_LOOKS = 4;

interface InLine {
  lane: Lane;
  resolve: (acquired: boolean) => void;
  looks: number;
  timer: NodeJS.Timeout;
}

/**
 * The slots of this process. A slot is a request in flight; `FairShare` decides who may have the next one. A delivery that
 * is due is in one of these states:
 *
 * | state    | meaning                                                   | goes on to                                  |
 * | -------- | --------------------------------------------------------- | ------------------------------------------- |
 * | loaded   | its row is in memory, at most `DELIVERY_CONCURRENCY` rows | held, when its lane may begin; else in line |
 * | in line  | waits in memory, at most 2 s                              | held, when a slot is released; else parked  |
 * | parked   | waits in its row, for any worker; see `ParkingService`    | admitted, in fair turns                     |
 * | admitted | a worker has a slot for its lane and takes the row        | held                                        |
 * | held     | its request is being made                                 | released, when the request has ended        |
 * | released | its outcome waits to be written, in the outcome buffer    | written                                     |
 *
 * A delivery skips the line and is parked at once when its webhook is stuck, or when its user already has more in the line
 * than end within two seconds. A released slot goes to the line first, then to what is parked.
 */
@Injectable()
export class SlotsService {
  /** How many rows jobs may hold in memory at once. It bounds memory, not requests; requests are bounded by slots. */
  readonly loaded: Semaphore;
  private readonly share: FairShare;
  private readonly line = new Set<InLine>();
  private readonly waitingOf = new Map<string, number>();
  private onFree: () => void = () => undefined;

  constructor(config: Config) {
    this.loaded = new Semaphore(config.deliveryConcurrency);
    this.share = new FairShare(config.deliveryConcurrency, config.webhookConcurrency);
  }

  /** Calls `listener` whenever a slot is released and nobody in the line takes it. */
  whenFree(listener: () => void): void {
    this.onFree = listener;
  }

  /**
   * Acquires a slot: at once, or within two seconds when the lane's attempts end. Never throws.
   * @returns whether the caller holds a slot, which it gives back with `release`; false: park the delivery
   */
  acquire(lane: Lane): boolean | Promise<boolean> {
    if (this.tryAcquire(lane)) return true;
    if (this.waitsInVain(lane)) return false;
    return new Promise((resolve) => {
      const waiting = { lane, resolve, looks: 0, timer: setInterval(() => this.look(waiting), LOOK_EVERY_MS) };
      this.line.add(waiting);
      this.waitingOf.set(lane.userId, (this.waitingOf.get(lane.userId) ?? 0) + 1);
    });
  }

  /** Acquires a slot even where none is free: for an attempt that a user waits for. */
  acquireAnyway(lane: Lane): void {
    this.share.begin(lane, performance.now());
  }

  /** Acquires the slots that are free for parked deliveries, in fair turns. Each of them is given back with `release`. */
  acquireFor(parked: ParkedLanes): Admission[] {
    return this.share.free === 0 ? [] : parked.next((lane) => this.tryAcquire(lane));
  }

  /** Gives a slot back. The first in the line that may have it takes it; otherwise `whenFree` is told. */
  release(lane: Lane, pace: Pace): void {
    this.share.end(lane, pace, performance.now());
    for (const waiting of this.line) {
      if (this.share.free === 0) return;
      if (this.tryAcquire(waiting.lane)) this.settle(waiting, true);
    }
    this.onFree();
  }

  /** Forgets how slow webhooks were that have no attempt in flight. */
  forgetIdle(): void {
    this.share.forgetIdle();
  }

  private tryAcquire(lane: Lane): boolean {
    const may = this.share.mayBegin(lane);
    if (may) this.share.begin(lane, performance.now());
    return may;
  }

  private waitsInVain({ webhookId, userId }: Lane): boolean {
    const now = performance.now();
    const waiting = this.waitingOf.get(userId) ?? 0;
    return this.share.isStuck({ webhookId, userId }, now) || this.share.wouldWaitTooLong(userId, waiting, now);
  }

  private look(waiting: InLine): void {
    waiting.looks += 1;
    if (waiting.looks === MAX_LOOKS || this.waitsInVain(waiting.lane)) this.settle(waiting, false);
  }

  private settle(waiting: InLine, acquired: boolean): void {
    this.line.delete(waiting);
    const { userId } = waiting.lane;
    const others = (this.waitingOf.get(userId) ?? 0) - 1;
    if (others > 0) this.waitingOf.set(userId, others);
    else this.waitingOf.delete(userId);
    clearInterval(waiting.timer);
    waiting.resolve(acquired);
  }
}
