import { Injectable } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import type { Lane } from '../lane';
import { FairShare, type Pace } from './fair-share';
import { type Admission, LaneTurns } from './lane-turns';

/** How often the deliveries in the line are asked whether waiting still makes sense. */
const LOOK_EVERY_MS = 250;
/** After this time a delivery leaves the line in any case. */
const MAX_IN_LINE_MS = 1000;
/** Deliveries in the line. None of its users may have more than there is room left. */
const MAX_LINE = 20_000;

interface InLine {
  lane: Lane;
  /** When it entered the line, in ms of this process. */
  since: number;
  resolve: (acquired: boolean) => void;
}

/**
 * The slots of this process. A slot is a request in flight; `FairShare` decides who may have the next one. A delivery that
 * is due is in one of these states:
 *
 * | state    | meaning                                                   | goes on to                                  |
 * | -------- | --------------------------------------------------------- | ------------------------------------------- |
 * | offered  | a job or a new event has brought it to this process       | held, when its lane may begin; else in line |
 * | in line  | waits in memory, at most 1 s                              | held, when a slot is released; else parked  |
 * | parked   | waits in its row, for any worker; see `ParkingService`    | admitted, in fair turns                     |
 * | admitted | a worker has a slot for its lane and claims the row       | held                                        |
 * | held     | its row is claimed and read, and its request is made      | released, when the request has ended        |
 * | released | its outcome waits to be written, in the outcome buffer    | written                                     |
 *
 * A delivery skips the line and is parked at once when its webhook is stuck, or when its user already has more in the line
 * than there is room left. A released slot goes to the line first, then to what is parked.
 */
@Injectable()
export class SlotsService {
  private readonly share: FairShare;
  /** The webhooks that have deliveries in the line, in turns. */
  private readonly lanes = new LaneTurns();
  /** By webhook, the oldest first. */
  private readonly line = new Map<string, InLine[]>();
  private readonly waitingOf = new Map<string, number>();
  private inLine = 0;
  private looking: NodeJS.Timeout | null = null;
  private onFree: () => void = () => undefined;

  constructor(config: Config) {
    this.share = new FairShare(config.deliveryConcurrency, config.webhookConcurrency);
  }

  /** Calls `listener` whenever a slot is released and nobody in the line takes it. */
  whenFree(listener: () => void): void {
    this.onFree = listener;
  }

  /**
   * Acquires a slot: at once, or within a second when the lane's attempts end. Never throws.
   * @returns whether the caller holds a slot, which it gives back with `release`; false: park the delivery
   */
  acquire(lane: Lane): boolean | Promise<boolean> {
    if (this.tryAcquire(lane)) return true;
    const waiting = this.waitingOf.get(lane.userId) ?? 0;
    if (waiting >= MAX_LINE - this.inLine || this.share.isStuck(lane, performance.now())) return false;
    return new Promise((resolve) => this.enter({ lane, since: performance.now(), resolve }));
  }

  /** Acquires a slot even where none is free: for an attempt that a user waits for. */
  acquireAnyway(lane: Lane): void {
    this.share.begin(lane, performance.now());
  }

  /** Acquires the slots that are free for parked deliveries, in fair turns. Each of them is given back with `release`. */
  acquireFor(parked: LaneTurns): Admission[] {
    return this.nextOf(parked, (lane) => this.tryAcquire(lane));
  }

  /** Gives a slot back. The first in the line that may have it takes it; otherwise `whenFree` is told. */
  release(lane: Lane, pace: Pace): void {
    this.share.end(lane, pace, performance.now());
    if (this.inLine > 0) this.forgetEmpty(this.nextOf(this.lanes, (waiting) => this.admit(waiting)));
    if (this.share.free > 0) this.onFree();
  }

  /** Forgets how slow webhooks were that have no attempt in flight. */
  forgetIdle(): void {
    this.share.forgetIdle();
  }

  private nextOf(lanes: LaneTurns, tryAcquire: (lane: Lane) => boolean): Admission[] {
    if (this.share.free === 0) return [];
    return lanes.next(tryAcquire, (userId) => this.share.userMayBegin(userId));
  }

  private tryAcquire(lane: Lane): boolean {
    const now = performance.now();
    const may = this.share.mayBegin(lane, now);
    if (may) this.share.begin(lane, now);
    return may;
  }

  private enter(waiting: InLine): void {
    const { webhookId, userId } = waiting.lane;
    const others = this.line.get(webhookId);
    if (others) others.push(waiting);
    else this.line.set(webhookId, [waiting]);
    this.lanes.add(waiting.lane);
    this.inLine += 1;
    this.waitingOf.set(userId, (this.waitingOf.get(userId) ?? 0) + 1);
    this.looking ??= setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** Gives the first delivery of a lane in the line its slot. False when it has none, or may not have one. */
  private admit(lane: Lane): boolean {
    const waiting = this.line.get(lane.webhookId);
    if (!waiting?.length || !this.tryAcquire(lane)) return false;
    this.leave(waiting, true);
    return true;
  }

  /** Lets those go that have waited for long enough, and all whose webhook is stuck. */
  private look(): void {
    const now = performance.now();
    for (const [webhookId, waiting] of [...this.line]) {
      for (let first = waiting[0]; first; first = waiting[0]) {
        if (now - first.since < MAX_IN_LINE_MS && !this.share.isStuck(first.lane, now)) break;
        this.leave(waiting, false);
      }
      this.forgetEmpty([{ webhookId }]);
    }
  }

  /** The first of a webhook's deliveries leaves the line. */
  private leave(waiting: InLine[], acquired: boolean): void {
    const { lane, resolve } = waiting.shift() as InLine;
    this.inLine -= 1;
    const ofUser = (this.waitingOf.get(lane.userId) ?? 0) - 1;
    if (ofUser > 0) this.waitingOf.set(lane.userId, ofUser);
    else this.waitingOf.delete(lane.userId);
    resolve(acquired);
  }

  private forgetEmpty(lanes: readonly Pick<Lane, 'webhookId'>[]): void {
    for (const { webhookId } of lanes) {
      if (this.line.get(webhookId)?.length !== 0) continue;
      this.line.delete(webhookId);
      this.lanes.remove(webhookId);
    }
    if (this.inLine > 0 || !this.looking) return;
    clearInterval(this.looking);
    this.looking = null;
  }
}
