import { Injectable, Logger } from '@nestjs/common';
import type { Counter, Gauge, Histogram } from 'prom-client';
import { MetricsService } from '../../plumbing/metrics/metrics.service';
import { timeOfId } from '../../plumbing/database/id-time';
import { traceIdOf } from '../../events/traceparent';
import type { AttemptRecord, Exchange, Recorded } from '../attempt';
import { AttendanceService } from './leases.service';
import type { DueDelivery } from '../due-delivery';
import { ERROR_CODES } from '../delivery-error';

const TRIGGERS = ['event', 'redelivery', 'test'];
const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const WAY_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/** Tells of attempts: while they are made in their rows, then in one line of the log for each, and in numbers. */
@Injectable()
export class AttemptReportsService {
  private readonly logger = new Logger('Deliveries');
  private readonly inFlight: Gauge;
  private readonly succeeded: Counter<'trigger'>;
  private readonly failed: Counter<'code'>;
  private readonly retries: Counter;
  private readonly duration: Histogram;
  private readonly way: Histogram;

  constructor(
    metrics: MetricsService,
    private readonly attendance: AttendanceService,
  ) {
    this.inFlight = metrics.level(
      'webhooks_attempts_in_flight',
      'Attempts that this process is making, until their outcome is written.',
    );
    this.succeeded = metrics.counterBy(
      'webhooks_deliveries_succeeded_total',
      'Attempts that a receiver took.',
      'trigger',
      TRIGGERS,
    );
    this.failed = metrics.counterBy('webhooks_attempts_failed_total', 'Attempts that failed.', 'code', ERROR_CODES);
    this.retries = metrics.counter('webhooks_retries_scheduled_total', 'Failed attempts that are followed by another.');
    this.duration = metrics.histogram(
      'webhooks_attempt_duration_seconds',
      'From the beginning of a request to its status line, or to its failure.',
      ATTEMPT_SECONDS,
    );
    this.way = metrics.histogram(
      'webhooks_first_delivery_seconds',
      'From publishing an event to the success of its first attempt at a webhook.',
      WAY_SECONDS,
    );
  }

  /** False when this process is making the attempt already. */
  begin(deliveryId: string): boolean {
    if (!this.attendance.begin(deliveryId)) return false;
    this.inFlight.inc();
    return true;
  }

  end(deliveryId: string): void {
    this.attendance.end(deliveryId);
    this.inFlight.dec();
  }

  /** @param recorded null when another process had written an outcome before: then this one is not counted */
  report(delivery: DueDelivery, record: AttemptRecord, recorded: Recorded | null): void {
    if (recorded) this.count(delivery, record);
    if (recorded?.nextId) this.retries.inc();
    this.log(delivery, record);
  }

  private count(delivery: DueDelivery, { status, error, exchange }: AttemptRecord): void {
    if (exchange) this.duration.observe(exchange.durationMs / 1000);
    if (status === 'failed' && error) this.failed.inc({ code: error.code });
    if (status !== 'succeeded' || !exchange) return;
    this.succeeded.inc({ trigger: delivery.trigger });
    if (delivery.trigger === 'event' && delivery.attempt === 1) this.way.observe(wayMs(delivery, exchange) / 1000);
  }

  private log(delivery: DueDelivery, { status, error, exchange, next }: AttemptRecord): void {
    const { id, webhookId, eventId, event, attempt, trigger, traceparent } = delivery;
    const host = exchange ? new URL(exchange.url).host : null;
    this.logger.log({
      msg: 'attempt',
      deliveryId: id,
      webhookId,
      eventId,
      event,
      attempt,
      trigger,
      status,
      error: error?.code ?? null,
      host,
      responseStatus: exchange?.response?.status ?? null,
      durationMs: exchange?.durationMs ?? null,
      retryInMs: next?.delayMs ?? null,
      traceId: traceIdOf(traceparent),
      // Under which the receiver has been called, see childTraceparent.
      spanId: exchange?.requestHeaders.traceparent?.slice(36, 52) ?? null,
    });
  }
}

/** Both instants are PostgreSQL's: the one in the event's id, and that of the attempt. */
function wayMs({ eventId }: DueDelivery, { attemptedAt, durationMs }: Exchange): number {
  return Math.max(0, attemptedAt.getTime() + durationMs - timeOfId(eventId).getTime());
}
