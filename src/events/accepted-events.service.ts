import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { MetricsService } from '../infrastructure/metrics/metrics.service';
import { FanOutQueue } from './fan-out.queue';
import { traceIdOf } from './traceparent';

/** Number of events that are counted and logged before other work gets a turn. One transaction may commit 200,000. */
const AT_ONCE = 500;

export interface Origin {
  requestId: string;
  /** W3C Trace Context of the caller; null when the request had none. */
  traceparent: string | null;
}

/** An event whose row is stored, or that was already published under its idempotency key. */
export interface AcceptedEvent {
  published: { id: string; event: string; userId: string | null; duplicate: boolean };
  /** Null when published in process. */
  publisherId: string | null;
  /** Undefined when published in process. */
  origin?: Origin;
  /** W3C Trace Context of the publication; null without a trace. */
  traceparent: string | null;
}

/** Handles committed events: enqueues them for the fan-out, counts them, and logs one line for each. */
@Injectable()
export class AcceptedEventsService {
  private readonly logger = new Logger(AcceptedEventsService.name);
  private readonly accepted: Counter<'source'>;
  private readonly repeated: Counter<'source'>;

  constructor(
    private readonly queue: FanOutQueue,
    metrics: MetricsService,
  ) {
    const sources = ['http', 'in_process'];
    this.accepted = metrics.counterBy('webhooks_events_accepted_total', 'Events accepted.', 'source', sources);
    this.repeated = metrics.counterBy(
      'webhooks_events_repeated_total',
      'Publications whose idempotency key had already published the event.',
      'source',
      sources,
    );
  }

  /** Enqueues, counts and logs committed events. Returns at once and never throws. */
  committed(events: readonly AcceptedEvent[]): void {
    this.queue.add(
      events.flatMap(({ published: { id, userId, duplicate }, publisherId }) =>
        duplicate ? [] : [{ id, userId: userId ?? publisherId ?? '' }],
      ),
    );
    void this.log(events);
  }

  private async log(events: readonly AcceptedEvent[]): Promise<void> {
    for (let i = 0; i < events.length; i += AT_ONCE) {
      if (i > 0) await nextTurn();
      for (const event of events.slice(i, i + AT_ONCE)) this.logOne(event);
    }
  }

  private logOne({ published: { id, event, userId, duplicate }, origin, traceparent }: AcceptedEvent): void {
    (duplicate ? this.repeated : this.accepted).inc({ source: origin ? 'http' : 'in_process' });
    this.logger.log({
      msg: 'event accepted',
      eventId: id,
      event,
      audience: userId === null ? 'everybody' : 'user',
      duplicate,
      requestId: origin?.requestId ?? null,
      traceId: traceIdOf(traceparent),
    });
  }
}
