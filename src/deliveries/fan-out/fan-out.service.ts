import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Gauge } from 'prom-client';
import { Batcher } from '../../plumbing/database/batcher';
import { timeOfId } from '../../plumbing/database/id-time';
import { MetricsService } from '../../plumbing/metrics/metrics.service';
import { WorkersService } from '../../plumbing/queue/workers.service';
import { Repeat } from '../../plumbing/timers/repeat.timer';
import type { FirstAttempt } from '../attempt';
import { FirstAttemptsService } from '../sending/first-attempts.service';
import { Semaphore } from '../slots/semaphore';
import { firstDeliveryId } from './first-delivery-id';
import { FanOutRepository, type Subscriber } from './fan-out.repository';

const MAX_BATCH = 100;
/** While one batch is begun, the next is read. */
const BATCHES_AT_ONCE = 2;
/** Events that a process holds at once. It bounds the bodies in memory. */
const MAX_HELD = 500;
/** An event that takes longer than this is claimed in its row, well before the lease of its insert ends. */
const HOLD_AFTER_MS = 500;
/** Well before `EVENT_LEASE` is over. */
const EXTEND_AFTER_MS = 4000;

/** An event whose deliveries have been begun. */
interface Begun {
  /** One for each delivery: resolves when it has a row. */
  rows: Promise<void>[];
  /** The row of its only delivery marks it as fanned out. */
  completesItself: boolean;
}

/** The fields of a subscriber that only the first one of its event carries. */
type Head = Pick<Subscriber, 'event' | 'body' | 'traceparent' | 'acceptedAt'>;

/**
 * Fans events out: claims them, and makes the first attempts of all their deliveries. An event is held until each of its
 * deliveries has a row; then it is marked as fanned out. When the process ends before, the event's lease expires, and
 * another worker makes what has no row yet: the ids of first deliveries are computed from the event.
 */
@Injectable()
export class FanOutService implements OnApplicationShutdown {
  private readonly logger = new Logger('FanOut');
  private readonly claims = new Batcher<string, Begun | null>((ids) => this.claim(ids), MAX_BATCH, BATCHES_AT_ONCE);
  private readonly completions = new Batcher<string, void>(async (ids) => {
    await this.fanOut.complete(ids);
    return ids.map(() => undefined);
  }, MAX_BATCH);
  /** The events of this process, and when their leases have to be extended, in ms of this process; null: not claimed yet. */
  private readonly held = new Map<string, number | null>();
  private readonly heldEvents: Gauge;
  private readonly room = new Semaphore(MAX_HELD);
  private readonly holding = new Repeat(() => this.hold(), {
    everyMs: HOLD_AFTER_MS,
    onFailure: (error) => this.logger.debug(`The leases of events cannot be extended: ${String(error)}`),
  });

  constructor(
    private readonly fanOut: FanOutRepository,
    private readonly firsts: FirstAttemptsService,
    private readonly workers: WorkersService,
    metrics: MetricsService,
  ) {
    const help = 'Events whose first deliveries this process is making, until each of them has a row.';
    this.heldEvents = metrics.level('webhooks_events_held', help);
    this.holding.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.holding.stop();
  }

  /**
   * Fans out all of these events. Resolves when their deliveries have rows. Throws only when an event could not be read, and
   * nothing of it was begun: the job may be repeated then.
   */
  async fanOutAll(eventIds: readonly string[]): Promise<void> {
    const begun: Promise<void>[] = [];
    for (const id of eventIds) {
      // Those that find room at once are claimed together.
      if (!this.room.tryAcquire()) await this.room.acquire();
      begun.push(quietly(this.fanOutOne(id).finally(() => this.room.release())));
    }
    throwFirst(await Promise.allSettled(begun));
  }

  private async fanOutOne(eventId: string): Promise<void> {
    if (this.held.has(eventId)) return;
    this.held.set(eventId, null);
    this.heldEvents.inc();
    try {
      const begun = await this.claims.add(eventId);
      if (begun) await this.finish(eventId, begun);
    } finally {
      this.held.delete(eventId);
      this.heldEvents.dec();
    }
  }

  /**
   * Waits for the rows, and marks the event. Never throws: its job would be repeated at once, and a new event is claimed
   * without a look at its rows. What is not marked is left to the sweeper.
   */
  private async finish(eventId: string, { rows, completesItself }: Begun): Promise<void> {
    const hasAll = (await Promise.allSettled(rows)).every(({ status }) => status === 'fulfilled');
    if (!hasAll || completesItself) return;
    try {
      await this.completions.add(eventId);
    } catch (error) {
      this.logger.warn(`The mark of the event ${eventId} is left to the sweeper: ${String(error)}`);
    }
  }

  /** Begins those events that it can claim. Throws only when none has begun: it would be begun again. */
  private async claim(eventIds: readonly string[]): Promise<(Begun | null)[]> {
    const begun = new Map<string, Begun>();
    try {
      for await (const { page, isLast } of this.fanOut.claim(eventIds)) this.begin(page, isLast, begun);
    } catch (error) {
      if (begun.size === 0) throw error;
      this.logger.warn(`Subscribers of ${begun.size} events are left to the sweeper: ${String(error)}`);
      // Those that were not read stay without a row: none of these events may be marked.
      for (const { rows } of begun.values()) rows.push(quietly(Promise.reject(error as Error)));
    }
    return eventIds.map((id) => begun.get(id) ?? null);
  }

  private begin(page: readonly Subscriber[], isLast: boolean, begun: Map<string, Begun>): void {
    let head: Head | undefined;
    for (const [i, subscriber] of page.entries()) {
      const { eventId, webhookId } = subscriber;
      if (subscriber.event !== null) head = subscriber;
      const known = begun.get(eventId);
      const hasNext = i + 1 < page.length ? page[i + 1]?.eventId === eventId : !isLast;
      const event = known ?? { rows: [], completesItself: webhookId !== null && !hasNext };
      if (!known) {
        begun.set(eventId, event);
        this.held.set(eventId, performance.now() + HOLD_AFTER_MS);
      }
      if (webhookId === null || !head) continue;
      event.rows.push(this.start({ ...subscriber, webhookId }, head, event.completesItself));
    }
  }

  /** Begins one delivery. Resolves when it has a row. */
  private start(
    { eventId, webhookId, userId, url, sealedSecret, sealedPreviousSecret }: Subscriber & { webhookId: string },
    { event, body, traceparent, acceptedAt }: Head,
    isOnly: boolean,
  ): Promise<void> {
    const first: FirstAttempt = {
      id: firstDeliveryId(eventId, webhookId),
      webhookId,
      userId,
      eventId,
      event: event ?? '',
      attempt: 1,
      trigger: 'event',
      body: body ?? '',
      traceparent,
      webhook: { url, active: true, sealedSecret, sealedPreviousSecret },
      url,
      // However often the event is fanned out. Its id has the clock of a process, which may be ahead by a millisecond.
      scheduledAt: new Date(Math.max(Number(acceptedAt), timeOfId(eventId).getTime())),
      isOnly,
    };
    const hasRow = new Promise<void>((resolve, reject) => {
      const attempted = () => (body === null ? this.firsts.park(first) : this.firsts.attempt(first, resolve));
      this.workers.during(attempted).then(resolve, (error: unknown) => {
        this.logger.warn(`The attempt ${first.id} is left to the sweeper: ${String(error)}`);
        reject(error as Error);
      });
    });
    return quietly(hasRow);
  }

  private async hold(): Promise<void> {
    const now = performance.now();
    const ids = [...this.held].flatMap(([id, extendAt]) => (extendAt !== null && extendAt <= now ? [id] : []));
    if (ids.length === 0) return;
    await this.fanOut.hold(ids);
    for (const id of ids) if (this.held.has(id)) this.held.set(id, now + EXTEND_AFTER_MS);
  }
}

/** The same promise; nobody needs to watch it from the beginning. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

function throwFirst(all: readonly PromiseSettledResult<unknown>[]): void {
  const failed = all.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}
