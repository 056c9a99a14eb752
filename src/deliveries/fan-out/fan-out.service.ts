import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import type { Gauge } from 'prom-client';
import { Batcher } from '../../infrastructure/concurrency/batcher';
import { timeOfId } from '../../infrastructure/database/id-time';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import { WorkersService } from '../../infrastructure/queue/workers.service';
import { endSpan, failSpan, startStep } from '../../events/spans';
import { Repeat } from '../../infrastructure/concurrency/repeat.timer';
import type { FirstAttempt } from '../rows/attempt';
import { type DueWebhook, dueWebhookOf } from '../rows/due-webhook';
import { DispatchService } from '../sending/dispatch.service';
import { Semaphore } from '../../infrastructure/concurrency/semaphore';
import { type FilteredWebhook, FiltersService } from '../../webhooks/filters.service';
import { firstDeliveryId } from './first-delivery-id';
import { FanOutRepository, type Subscriber } from './fan-out.repository';

const MAX_BATCH = 100;
/** The next batch is read while the deliveries of one batch begin. */
const BATCHES_AT_ONCE = 2;
/** Maximum number of events that a process holds at once. It limits the bodies in memory. */
const MAX_HELD = 500;
/** An event that takes longer than this is claimed in its row, well before the lease of its insert ends. */
const HOLD_AFTER_MS = 500;
/** Well before `EVENT_LEASE` ends. */
const EXTEND_AFTER_MS = 4000;

interface OpenFanOut {
  /** One per delivery; resolves when it has a row. */
  rows: Promise<unknown>[];
  /** True when the row of its only delivery marks it as fanned out. */
  completesItself: boolean;
  span: Span;
}

/** The subscriber fields that are set only for the first subscriber of an event. */
type Head = Pick<Subscriber, 'event' | 'body' | 'traceparent' | 'audience' | 'acceptedAt'>;

type Filtered = Subscriber & FilteredWebhook;

/**
 * Fans out events: claims them, and makes the first attempts of all their deliveries. A process holds an event until each of its
 * deliveries has a row, and then marks it as fanned out. If the process ends before that, the event's lease expires and another
 * worker makes the deliveries without a row: the ids of first deliveries are computed from the event.
 */
@Injectable()
export class FanOutService implements OnApplicationShutdown {
  private readonly logger = new Logger(FanOutService.name);
  private readonly claims = new Batcher<string, OpenFanOut | null>(
    (ids) => this.claim(ids),
    MAX_BATCH,
    BATCHES_AT_ONCE,
  );
  /** The events of this process, and when to extend their leases, in ms by `performance.now()`; null when not claimed yet. */
  private readonly held = new Map<string, number | null>();
  private readonly heldEvents: Gauge;
  private readonly capacity = new Semaphore(MAX_HELD);
  /** Bodies that are too large to be held are read one at a time for filters. */
  private readonly largeBodies = new Semaphore(1);
  private readonly holding = new Repeat(() => this.hold(), {
    everyMs: HOLD_AFTER_MS,
    onFailure: (error) => this.logger.debug(`Extending the leases of events failed; retrying: ${String(error)}`),
  });

  constructor(
    private readonly fanOut: FanOutRepository,
    private readonly dispatch: DispatchService,
    private readonly workers: WorkersService,
    private readonly filters: FiltersService,
    metrics: MetricsService,
  ) {
    const help = 'Events whose first deliveries this process is making, until each of them has a row.';
    this.heldEvents = metrics.level('webhooks_events_held', help);
    this.holding.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.holding.stop();
  }

  /** Resolves when their deliveries have rows. Throws only when an event could not be read and may be tried again. */
  async fanOutAll(eventIds: readonly string[]): Promise<void> {
    const begun: Promise<void>[] = [];
    for (const id of eventIds) {
      // Events that need not wait here are claimed together.
      if (!this.capacity.tryAcquire()) await this.capacity.acquire();
      begun.push(quietly(this.fanOutOne(id).finally(() => this.capacity.release())));
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
   * Waits for the rows, and marks the event. Never throws: its job would be retried at once, and a new event is claimed without
   * checking its rows. Unmarked events are left to the sweeper.
   */
  private async finish(eventId: string, { rows, completesItself, span }: OpenFanOut): Promise<void> {
    const failed = (await Promise.allSettled(rows)).find((row) => row.status === 'rejected');
    if (failed) return failSpan(span, failed.reason);
    try {
      if (!completesItself) await this.fanOut.complete(eventId);
      endSpan(span);
    } catch (error) {
      failSpan(span, error);
      this.logger.warn(`Marking event ${eventId} as fanned out failed; the sweeper will retry: ${String(error)}`);
    }
  }

  /** Begins the events that it can claim. Throws only when none has begun, because a retry would begin it again. */
  private async claim(eventIds: readonly string[]): Promise<(OpenFanOut | null)[]> {
    const begun = new Map<string, OpenFanOut>();
    try {
      for await (const { page, isLast } of this.fanOut.claim(eventIds)) this.begin(page, isLast, begun);
    } catch (error) {
      if (begun.size === 0) throw error;
      this.logger.warn(`Reading subscribers of ${begun.size} events failed; the sweeper will retry: ${String(error)}`);
      // Subscribers that were not read have no row: none of these events may be marked.
      for (const { rows } of begun.values()) rows.push(quietly(Promise.reject(error as Error)));
    }
    return eventIds.map((id) => begun.get(id) ?? null);
  }

  private begin(page: readonly Subscriber[], isLast: boolean, begun: Map<string, OpenFanOut>): void {
    let head: Head | undefined;
    let filtered: Filtered[] = [];
    for (const [i, subscriber] of page.entries()) {
      const { eventId, webhookId, filterHash } = subscriber;
      if (subscriber.event !== null) head = subscriber;
      const known = begun.get(eventId);
      const isLastOfPage = page[i + 1]?.eventId !== eventId;
      const isOnly = webhookId !== null && filterHash === null && isLastOfPage && (isLast || i + 1 < page.length);
      const event = known ?? { rows: [], completesItself: isOnly, span: fanOutSpan(eventId, head) };
      if (!known) {
        begun.set(eventId, event);
        this.held.set(eventId, performance.now() + HOLD_AFTER_MS);
      }
      if (webhookId === null || !head) continue;
      if (filterHash !== null) filtered.push({ ...subscriber, webhookId, filterHash });
      else event.rows.push(this.start({ ...subscriber, webhookId }, head, event.completesItself));
      if (isLastOfPage && filtered.length > 0) {
        event.rows.push(quietly(this.startMatching(eventId, head, filtered)));
        filtered = [];
      }
    }
  }

  /** Begins the deliveries to those webhooks whose filters the event matches. Resolves when all of them have rows. */
  private async startMatching(eventId: string, head: Head, filtered: readonly Filtered[]): Promise<void> {
    const matching = await this.matching(eventId, head, filtered);
    throwFirst(await Promise.allSettled(matching.map((subscriber) => this.start(subscriber, head, false))));
  }

  private async matching(eventId: string, head: Head, filtered: readonly Filtered[]): Promise<Filtered[]> {
    const event = { name: head.event ?? '', userId: head.audience };
    if (head.body !== null) return this.filters.matching({ ...event, body: head.body }, filtered);
    await this.largeBodies.acquire();
    try {
      return await this.filters.matching({ ...event, body: await this.fanOut.bodyOf(eventId) }, filtered);
    } finally {
      this.largeBodies.release();
    }
  }

  private start(subscriber: Subscriber & { webhookId: string }, head: Head, completesEvent: boolean): Promise<unknown> {
    const { eventId, webhookId, userId, url } = subscriber;
    const { event, body, traceparent, audience, acceptedAt } = head;
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
      audience,
      webhook: url === null ? null : dueWebhookOf(subscriber as DueWebhook & Subscriber),
      url,
      // The same however often the event is fanned out. The id has the clock of a process, which may be ahead by a millisecond.
      scheduledAt: new Date(Math.max(Number(acceptedAt), timeOfId(eventId).getTime())),
      completesEvent,
    };
    const row = body === null ? this.dispatch.deferNew(first) : this.dispatch.attemptNew(first);
    const over = this.workers.during(async () => (await row)?.over);
    over.catch((error: unknown) =>
      this.logger.warn(`Attempt ${first.id} failed; the sweeper will retry it: ${String(error)}`),
    );
    return quietly(row);
  }

  private async hold(): Promise<void> {
    const now = performance.now();
    const ids = [...this.held].flatMap(([id, extendAt]) => (extendAt !== null && extendAt <= now ? [id] : []));
    if (ids.length === 0) return;
    await this.fanOut.hold(ids);
    for (const id of ids) if (this.held.has(id)) this.held.set(id, now + EXTEND_AFTER_MS);
  }
}

const fanOutSpan = (eventId: string, head: Head | undefined): Span =>
  startStep('fan-out', head?.traceparent ?? null, { 'webhooks.event.id': eventId });

/** Returns the same promise, without an unhandled rejection before it is awaited. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

function throwFirst(all: readonly PromiseSettledResult<unknown>[]): void {
  const failed = all.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}
