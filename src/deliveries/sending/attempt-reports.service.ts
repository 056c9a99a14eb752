import { Injectable, Logger } from '@nestjs/common';
import type { Counter, Histogram } from 'prom-client';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import { timeOfId } from '../../infrastructure/database/id-time';
import { traceIdOf } from '../../events/traceparent';
import type { Attempted, Exchange, Outcome, Written } from '../rows/attempt';
import { TRIGGERS } from '../rows/delivery.entity';
import { ERROR_CODES } from '../rows/delivery-error';
import { PUT_BACKS, type Wait } from '../rows/waits';

const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const WAY_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/** Reports each attempt in the metrics and as one log line. */
@Injectable()
export class AttemptReportsService {
  private readonly logger = new Logger(AttemptReportsService.name);
  private readonly succeeded: Counter<'trigger'>;
  private readonly failed: Counter<'code'>;
  private readonly retries: Counter;
  private readonly failuresOfOurs: ReadonlyMap<Wait, Counter>;
  private readonly duration: Histogram;
  private readonly way: Histogram;
  private readonly leases: Counter<'outcome'>;

  constructor(metrics: MetricsService) {
    const accepted = 'Attempts that a receiver accepted.';
    this.succeeded = metrics.counterBy('webhooks_deliveries_succeeded_total', accepted, 'trigger', TRIGGERS);
    this.failed = metrics.counterBy('webhooks_attempts_failed_total', 'Attempts that failed.', 'code', ERROR_CODES);
    this.retries = metrics.counter('webhooks_retries_scheduled_total', 'Failed attempts that are retried.');
    this.failuresOfOurs = new Map(
      PUT_BACKS.map(({ wait, seconds }) => [
        wait,
        metrics.counter(
          `webhooks_${wait}_failures_total`,
          `Attempts that were put back to wait for: ${wait}. They are made again after ${seconds} s.`,
        ),
      ]),
    );
    const duration = 'Time from the start of a request to its status line, or to its failure.';
    this.duration = metrics.histogram('webhooks_attempt_duration_seconds', duration, ATTEMPT_SECONDS);
    const way = 'Time from publishing an event to the success of its first attempt at a webhook.';
    this.way = metrics.histogram('webhooks_first_delivery_seconds', way, WAY_SECONDS);
    const help = 'Leases of consumers that ended, by outcome. Other figures on attempts do not count them.';
    this.leases = metrics.counterBy('webhooks_leases_total', help, 'outcome', ['succeeded', 'rejected', 'timeout']);
  }

  /** Counts an attempt that was put back. It is not logged, because nothing was sent: whatever failed is logged once. */
  putBack(wait: Wait): void {
    this.failuresOfOurs.get(wait)?.inc();
  }

  /** @param written null when another process had already written an outcome; this one is then logged but not counted */
  report(delivery: Attempted, outcome: Outcome, written: Written | null): void {
    if (written) this.count(delivery, outcome, written);
    this.log(delivery, outcome);
  }

  private count(delivery: Attempted, { status, error, exchange }: Outcome, { nextId }: Written): void {
    if (exchange?.url === null) return this.leases.inc({ outcome: error?.code ?? 'succeeded' });
    if (nextId) this.retries.inc();
    if (exchange) this.duration.observe(exchange.durationMs / 1000);
    if (status === 'failed' && error) this.failed.inc({ code: error.code });
    if (status !== 'succeeded' || !exchange) return;
    this.succeeded.inc({ trigger: delivery.trigger });
    if (delivery.trigger === 'event' && delivery.attempt === 1) this.way.observe(wayMs(delivery, exchange) / 1000);
  }

  private log(delivery: Attempted, { status, error, exchange, retryInMs }: Outcome): void {
    const { id, webhookId, eventId, event, attempt, trigger, traceparent } = delivery;
    const host = exchange?.url ? new URL(exchange.url).host : null;
    const sent = exchange?.requestHeaders?.traceparent as string | undefined;
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
      retryInMs,
      traceId: traceIdOf(sent ?? traceparent),
      // The span id that the receiver got; see sentTraceparent.
      spanId: sent?.slice(36, 52) ?? null,
    });
  }
}

/** Time from publishing to the first success, between two times of PostgreSQL. */
function wayMs({ eventId }: Attempted, { attemptedAt, durationMs }: Exchange): number {
  return Math.max(0, attemptedAt.getTime() + durationMs - timeOfId(eventId).getTime());
}
