import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Gauge } from 'prom-client';
import { timeOfId } from '../../infrastructure/database/id-time';
import { isDatabaseUnavailable } from '../../infrastructure/errors/database-error';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import { type WorkerTask, WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { WorkersService } from '../../infrastructure/queue/workers.service';
import { FanOutQueue, type StoredEvent } from '../../events/fan-out.queue';
import { endSpan, failSpan, startStep } from '../../events/spans';
import { FairQueue } from '../../infrastructure/concurrency/fair-queue';
import { Repeat } from '../../infrastructure/concurrency/repeat.timer';
import type { FirstAttempt } from '../rows/attempt';
import { type DueWebhook, dueWebhookOf } from '../rows/due-webhook';
import { DispatchService } from '../sending/dispatch.service';
import { Semaphore } from '../../infrastructure/concurrency/semaphore';
import { type FilteredWebhook, FiltersService } from '../../webhooks/filters.service';
import { firstDeliveryId } from './first-delivery-id';
import { FanOutRepository, type Page, type Subscriber } from './fan-out.repository';

const MAX_BATCH = 100;
/** The next batch is read while the deliveries of one batch begin. */
const CLAIMS_AT_ONCE = 2;
/** Maximum number of events that a process holds at once. It limits the bodies in memory. */
const MAX_HELD = 500;
/** Maximum number of events that wait here to be held. Further ones wait in their rows. */
const MAX_WAITING = 10_000;
/** While as many events wait the sweeper enqueues no more: half of them, which is work for a second, for a user who is alone. */
const ENOUGH = 5000;
/** Maximum number of its own events that a process takes without a job, half of them of one user. Further ones become jobs. */
const MAX_OWN = 400;
/** Most deliveries of one user's events without a row yet: rows of other users are not written behind more. */
const MAX_ROWS = 500;
/** About as many deliveries of one user are read by the claims under way: what others claim meanwhile does not wait for more. */
const MAX_READ = 1000;
/** As many deliveries are expected of an event of a user who has none here. */
const EXPECTED = 100;
/** An event that takes longer than this is claimed in its row, well before the lease of its insert ends. */
const HOLD_AFTER_MS = 500;
/** The lease of the insert of an older event has ended, as of all that the sweeper takes. */
const YOUNG_MS = 10_000;
/** Well before `EVENT_LEASE` ends. */
const EXTEND_AFTER_MS = 4000;

interface WaitingEvent extends StoredEvent {
  done: () => void;
}

/** How much of this process the events of one user use. */
class Share {
  /** Events that it holds. */
  events = 0;
  /** Those of them that are being claimed. */
  claiming = 0;
  /** One permit for each delivery without a row. */
  readonly rows = new Semaphore(MAX_ROWS);
  /** Most deliveries of an event of the last claim. */
  expected = EXPECTED;

  /** True when one more event may be claimed: few deliveries are being read, and fewer wait for a permit. */
  get hasRoom(): boolean {
    const { claiming, expected, rows } = this;
    return claiming * expected < MAX_READ && rows.waiting * expected < MAX_ROWS;
  }
}

/** The subscriber fields that are set only for the first subscriber of an event. */
type Head = Pick<Subscriber, 'event' | 'body' | 'subject' | 'traceparent' | 'audience' | 'acceptedAt'>;

/** A row with a webhook, and not that of an event without subscribers. */
type Target = Subscriber & { webhookId: string };

type Filtered = Subscriber & FilteredWebhook;

/**
 * Fans out events: claims them, and makes the first attempts of all their deliveries. A process holds an event until each of its
 * deliveries has a row, and then marks it as fanned out. If the process ends before that, the event's lease expires and another
 * worker makes the deliveries without a row: the ids of first deliveries are computed from the event. Users take turns, and
 * none holds more than is left for others, in events as in deliveries.
 */
@Injectable()
export class FanOutService implements WorkerTask, OnApplicationShutdown {
  private readonly logger = new Logger(FanOutService.name);
  private readonly waiting = new FairQueue<WaitingEvent>(MAX_WAITING);
  private readonly shares = new Map<string, Share>();
  /** The events of this process, and when to extend their leases, in ms by `performance.now()`; null when not claimed yet. */
  private readonly known = new Map<string, number | null>();
  private held = 0;
  private claiming = 0;
  private isStopped = false;
  private readonly heldEvents: Gauge;
  /** Bodies that are too large to be held are read one at a time for filters. */
  private readonly largeBodies = new Semaphore(1);
  private readonly holding = new Repeat(() => this.hold(), {
    everyMs: HOLD_AFTER_MS,
    onFailure: (error) => this.logger.debug(`Extending the leases of events failed; retrying: ${String(error)}`),
  });

  constructor(
    private readonly queue: FanOutQueue,
    private readonly fanOut: FanOutRepository,
    private readonly dispatch: DispatchService,
    private readonly workers: WorkersService,
    private readonly filters: FiltersService,
    tasks: WorkerTasksService,
    metrics: MetricsService,
  ) {
    const help = 'Events whose first deliveries this process is making, until each of them has a row.';
    this.heldEvents = metrics.level('webhooks_events_held', help);
    this.holding.start();
    tasks.add(this);
  }

  /** Takes events that this process has published, without a job. */
  start(): void {
    this.isStopped = false;
    this.queue.offerTo((event) => {
      const ofUser = this.waiting.sizeOf(event.userId) + (this.shares.get(event.userId)?.events ?? 0);
      return ofUser < MAX_OWN - this.known.size && this.add(event) !== null;
    });
  }

  /** Leaves waiting events to other workers. `WorkersService` waits for those that are held. */
  stop(): void {
    this.isStopped = true;
    this.queue.offerTo(() => false);
    const events = this.waiting.take(Infinity);
    for (const { id, done } of events) {
      this.known.delete(id);
      done();
    }
    void this.queue.enqueue(events).catch(() => undefined);
  }

  onApplicationShutdown(): Promise<void> {
    return this.holding.stop();
  }

  /** The users of whom enough events wait here, so that the sweeper enqueues no more; null: of all users. */
  get usersWithEnough(): string[] | null {
    return this.waiting.crowded(ENOUGH);
  }

  /**
   * Fans out an event as soon as it is its user's turn. The promise never rejects, and resolves when its deliveries have rows or
   * it is left to the sweeper; null when there is no place for it.
   * @throws Error when the process is stopping; another worker may take the event
   */
  add({ id, userId }: StoredEvent): Promise<void> | null {
    if (this.isStopped) throw new Error('The process is stopping, and takes no more events.');
    if (this.known.has(id)) return Promise.resolve();
    let done: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (done = resolve));
    if (!this.waiting.add({ id, userId, done })) return null;
    this.known.set(id, null);
    // Events that are added in the same tick are claimed together.
    if (this.claiming < CLAIMS_AT_ONCE) queueMicrotask(() => this.claimNext());
    return ended;
  }

  /** Claims the events whose turn it is, if any. */
  private claimNext(): void {
    while (this.claiming < CLAIMS_AT_ONCE) {
      const events = this.waiting.take(Math.min(MAX_BATCH, MAX_HELD - this.held), (userId) => this.admit(userId));
      if (events.length === 0) return;
      this.claiming += 1;
      void this.workers.during(() => this.begin(events));
    }
  }

  /** Counts one more event of a user as held. Returns false, and counts nothing, when the user has too many. */
  private admit(userId: string): boolean {
    const share = this.shares.get(userId) ?? new Share();
    if (share.events > MAX_HELD - this.held || !share.hasRoom) return false;
    this.shares.set(userId, share);
    share.events += 1;
    share.claiming += 1;
    this.held += 1;
    this.heldEvents.inc();
    return true;
  }

  private async begin(events: readonly WaitingEvent[]): Promise<void> {
    const pages = await this.claim(events.map(({ id }) => id));
    this.claiming -= 1;
    const widths = new Map<Share, number>();
    for (const { id, userId } of events) {
      const share = this.shares.get(userId) as Share;
      share.claiming -= 1;
      widths.set(share, Math.max(1, widths.get(share) ?? 0, pages.get(id)?.subscribers.length ?? 0));
    }
    for (const [share, width] of widths) share.expected = width;
    const ended = Promise.all(events.map((event) => this.fanOutOne(event, pages.get(event.id))));
    this.claimNext();
    await ended;
  }

  /** Returns the first pages of the events that it can claim. Never throws: events without one are left to the sweeper. */
  private async claim(eventIds: readonly string[]): Promise<Map<string, Page>> {
    try {
      const youngSince = Date.now() - YOUNG_MS;
      const isYoung = (id: string): boolean => timeOfId(id).getTime() > youngSince;
      return await this.fanOut.claim(
        eventIds.filter(isYoung),
        eventIds.filter((id) => !isYoung(id)),
      );
    } catch (error) {
      if (eventIds.length > 1 && !isDatabaseUnavailable(error)) {
        const single = await Promise.all(eventIds.map((id) => this.claim([id])));
        return new Map(single.flatMap((pages) => [...pages]));
      }
      this.logger.warn(`Claiming ${eventIds.length} events failed; the sweeper will retry: ${String(error)}`);
      return new Map();
    }
  }

  private async fanOutOne({ id, userId, done }: WaitingEvent, page: Page | undefined): Promise<void> {
    const share = this.shares.get(userId) as Share;
    if (page) await this.makeAll(id, page, share);
    this.known.delete(id);
    this.heldEvents.dec();
    this.held -= 1;
    share.events -= 1;
    if (share.events === 0) this.shares.delete(userId);
    done();
    if (this.waiting.size > 0) this.claimNext();
  }

  /** Makes the deliveries of an event, and marks it when each has a row. Never throws: unmarked events are left to the sweeper. */
  private async makeAll(eventId: string, first: Page, { rows }: Share): Promise<void> {
    this.known.set(eventId, performance.now() + HOLD_AFTER_MS);
    const [head] = first.subscribers as [Subscriber];
    const span = startStep('fan-out', head.traceparent, { 'webhooks.event.id': eventId });
    const completesItself = first.subscribers.length === 1 && head.webhookId !== null && head.filterHash === null;
    const made: Promise<unknown>[] = [];
    try {
      for (let page = first; ; page = await this.fanOut.next(eventId, page.subscribers.at(-1)?.webhookId as string)) {
        const filtered = page.subscribers.filter(isFiltered);
        const matching = filtered.length > 0 ? await this.matching(eventId, head, filtered) : [];
        for (const subscriber of page.subscribers.filter((one) => one.filterHash === null).concat(matching)) {
          if (!hasWebhook(subscriber)) continue;
          if (!rows.tryAcquire()) await rows.acquire();
          made.push(this.make(subscriber, head, completesItself, rows));
        }
        if (page.isLast) break;
      }
      const failed = (await Promise.allSettled(made)).find((one) => one.status === 'rejected');
      if (failed) return failSpan(span, failed.reason);
      if (!completesItself) await this.fanOut.complete(eventId);
      endSpan(span);
    } catch (error) {
      failSpan(span, error);
      this.logger.warn(`Fanning out event ${eventId} failed; the sweeper will retry: ${String(error)}`);
    }
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

  /** Makes the first attempt of a delivery. Resolves when it has a row, and releases its permit of `rows`. */
  private make(subscriber: Target, head: Head, completesEvent: boolean, rows: Semaphore): Promise<unknown> {
    const { eventId, webhookId, userId, url } = subscriber;
    const { event, body, subject, traceparent, audience, acceptedAt } = head;
    const first: FirstAttempt = {
      id: firstDeliveryId(eventId, webhookId),
      webhookId,
      userId,
      eventId,
      event: event ?? '',
      attempt: 1,
      trigger: 'event',
      body: body ?? '',
      subject,
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
    const release = (): void => rows.release();
    row.then(release, release);
    return row;
  }

  private async hold(): Promise<void> {
    const now = performance.now();
    const ids = [...this.known].flatMap(([id, extendAt]) => (extendAt !== null && extendAt <= now ? [id] : []));
    if (ids.length === 0) return;
    await this.fanOut.hold(ids);
    for (const id of ids) if (this.known.has(id)) this.known.set(id, now + EXTEND_AFTER_MS);
  }
}

const hasWebhook = (one: Subscriber): one is Target => one.webhookId !== null;
const isFiltered = (one: Subscriber): one is Filtered => one.webhookId !== null && one.filterHash !== null;
