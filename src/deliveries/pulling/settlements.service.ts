import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { Config } from '../../infrastructure/config/config';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import type { Outcome } from '../attempt';
import { type DeliveryError, deliveryError } from '../delivery-error';
import { AttemptReportsService } from '../sending/attempt-reports.service';
import { AutoDisableService } from '../sending/auto-disable.service';
import { retryDelayMs } from '../sending/backoff';
import type { LeasedDelivery } from '../sending/claims.repository';
import { OutcomesService } from '../sending/outcomes.service';
import { type HeldLease, LeasesRepository } from './leases.repository';

/** How an attempt of a consumer ended. */
export type Verdict = { succeeded: true } | { succeeded: false; code: 'rejected' | 'timeout'; message: string | null };

const SETTLE_EVERY_MS = 1000;
const MAX_ROWS = 1000;

/** Writes the outcomes of attempts that consumers make: as they acknowledge them, or when their leases end. */
@Injectable()
export class SettlementsService {
  private readonly logger = new Logger(SettlementsService.name);
  private readonly ended: Counter<'outcome'>;

  constructor(
    private readonly config: Config,
    private readonly leases: LeasesRepository,
    private readonly outcomes: OutcomesService,
    private readonly reports: AttemptReportsService,
    private readonly autoDisable: AutoDisableService,
    tasks: WorkerTasksService,
    metrics: MetricsService,
  ) {
    const onFailure = logFirst(this.logger, 'Settling leases that have ended');
    tasks.add(new Repeat(() => this.settleEnded(), { everyMs: SETTLE_EVERY_MS, onFailure }));
    const outcome = ['succeeded', 'rejected', 'timeout'];
    const help = 'Leases of consumers that ended, by outcome. Other figures on attempts do not count them.';
    this.ended = metrics.counterBy('webhooks_leases_total', help, 'outcome', outcome);
  }

  /**
   * Writes the outcome of an attempt, and inserts the next one by the retry plan. Returns false when it has an outcome already.
   * Throws while PostgreSQL is unavailable; the lease goes on then.
   */
  async settle(lease: HeldLease, verdict: Verdict): Promise<boolean> {
    const { attempt, retryDelaysMs, attemptedAt, durationMs } = lease;
    const retryInMs = verdict.succeeded ? null : retryDelayMs(attempt, this.config, Math.random(), retryDelaysMs);
    const finalStatus = verdict.succeeded ? 'succeeded' : retryInMs === null ? 'out_of_retries' : null;
    const outcome: Outcome = {
      deliveryId: lease.id,
      status: verdict.succeeded ? 'succeeded' : 'failed',
      error: verdict.succeeded ? null : errorOf(verdict, lease),
      exchange: { url: null, attemptedAt, durationMs, requestHeaders: null, formatted: null, response: null },
      retryInMs,
      finalStatus,
    };
    const written = await this.outcomes.settle(outcome);
    if (!written) return false;
    this.ended.inc({ outcome: verdict.succeeded ? 'succeeded' : verdict.code });
    this.reports.log(lease, outcome);
    await this.autoDisable.note(lease, outcome, written);
    return true;
  }

  /** Ends an attempt that could not be signed, and so was not leased. */
  async fail(delivery: LeasedDelivery): Promise<void> {
    const error = deliveryError('internal', { durationMs: 0, timeoutMs: 0 });
    const ended = { status: 'failed', error, exchange: null, retryInMs: null, finalStatus: null } as const;
    const outcome: Outcome = { deliveryId: delivery.id, ...ended };
    if (await this.outcomes.settle(outcome)) this.reports.log(delivery, outcome);
  }

  private async settleEnded(): Promise<void> {
    for (let found = MAX_ROWS; found === MAX_ROWS;) {
      const ended = await this.leases.ended(MAX_ROWS);
      found = ended.length;
      const verdict = { succeeded: false, code: 'timeout', message: null } as const;
      await Promise.all(ended.map((lease) => this.settle(lease, verdict)));
    }
  }
}

function errorOf({ code, message }: Exclude<Verdict, { succeeded: true }>, { leaseMs }: HeldLease): DeliveryError {
  if (code === 'rejected')
    return { code, message: message || deliveryError(code, { durationMs: 0, timeoutMs: 0 }).message };
  const seconds = Math.round(leaseMs / 1000);
  return {
    code,
    message: `The consumer did not acknowledge this message before its lease of ${seconds} s ended. Check whether it still runs, or lease for longer.`,
  };
}
