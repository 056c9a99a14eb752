import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import type { HttpResult } from '../../infrastructure/destinations/http-result';
import type { Attempt, Exchange, FirstAttempt, Outcome } from '../attempt';
import { endSpan, failSpan } from '../../events/spans';
import { deliveryError, type ErrorCode } from '../delivery-error';
import type { DueWebhook } from '../due-webhook';
import type { Speed } from '../slots/fair-share';
import { BacklogService } from '../slots/backlog.service';
import { Semaphore } from '../../infrastructure/concurrency/semaphore';
import { AttemptReportsService } from './attempt-reports.service';
import { AutoDisableService } from './auto-disable.service';
import { retryAfterMs, retryDelayMs } from './backoff';
import { classify } from './classify';
import { endDeliver, startDeliver } from './deliver-span';
import { LeasesService } from './leases.service';
import { OutcomesService } from './outcomes.service';
import { SenderService, type SentRequest } from './sender.service';

const SLOW_MS = 2000;
/** A first attempt that takes longer gets a pending row. */
const PENDING_AFTER_MS = 1000;

type WhenEnded = (speed: Speed) => void;
type RequestOutcome = Pick<Outcome, 'status' | 'error' | 'retryInMs' | 'finalStatus'>;

/** Makes attempts. First attempts, retries, redeliveries and tests all run here. */
@Injectable()
export class AttemptsService {
  /** Outcomes waiting to be written; at most as many as there are slots. */
  private readonly outcomeBuffer: Semaphore;

  constructor(
    private readonly config: Config,
    private readonly leases: LeasesService,
    private readonly sender: SenderService,
    private readonly reports: AttemptReportsService,
    private readonly outcomes: OutcomesService,
    private readonly backlog: BacklogService,
    private readonly autoDisable: AutoDisableService,
  ) {
    this.outcomeBuffer = new Semaphore(config.deliveryConcurrency);
  }

  /**
   * Makes one attempt: sends the request, writes its outcome, enqueues the retry when one follows, and counts the final outcome
   * of the event for the webhook. A receiver's failure is an outcome, never an exception. When the egress proxy fails, the row
   * waits for it, and nothing else changes. Does nothing when this process is already making the attempt, which may be enqueued
   * again after a queue lost its jobs. Throws when PostgreSQL does not accept the outcome within two minutes.
   * @param whenEnded called once when the request has ended; after that only its outcome is written
   * @param whenRow called when a first attempt gets a row before its outcome
   */
  async make(delivery: Attempt, whenEnded: WhenEnded = nothing, whenRow: () => void = nothing): Promise<void> {
    if (!this.leases.begin(delivery.id)) return whenEnded(null);
    this.reports.begin();
    const { outcome, written } = await this.sendAndWrite(delivery, whenEnded, whenRow).finally(() => {
      this.leases.end(delivery.id);
      this.reports.end();
    });
    if (!outcome || !written) return;
    // The retry of a first attempt is one more pending row; every other one replaces a row.
    if (written.nextId !== null && 'isOnly' in delivery) this.backlog.note(delivery.webhookId);
    await this.outcomes.enqueueNext(written, delivery);
    await this.autoDisable.note(delivery, outcome, written);
  }

  /** Cancels the delivery of a new event without a request: it gets a row that says why. Throws while PostgreSQL is unavailable. */
  async cancelNew(first: FirstAttempt, code: ErrorCode): Promise<void> {
    const outcome = this.unsent(first, 'canceled', code);
    this.reports.report(first, outcome, await this.outcomes.insert(first, outcome));
  }

  private async sendAndWrite(delivery: Attempt, whenEnded: WhenEnded, whenRow: () => void) {
    const sending = this.send(delivery, whenEnded);
    const first = 'isOnly' in delivery ? (delivery as FirstAttempt) : null;
    const hasRow = first === null || (await this.insertWhenSlow(first, sending, whenRow));
    const outcome = await sending;
    if (outcome === null) return this.waitForProxy(delivery, hasRow ? null : first);
    const writing = hasRow ? this.outcomes.update(outcome) : this.outcomes.insert(first, outcome);
    const written = await writing.finally(() => this.outcomeBuffer.release());
    this.reports.report(delivery, outcome, written);
    return { outcome, written };
  }

  /** Puts the attempt back into its row. A first attempt that has none gets one. */
  private async waitForProxy({ id }: Attempt, withoutRow: FirstAttempt | null) {
    const isOurs = withoutRow === null || (await this.outcomes.insertPending(withoutRow, false));
    if (isOurs) await this.leases.waitForProxy(id);
    if (isOurs && withoutRow) this.backlog.note(withoutRow.webhookId);
    this.reports.waitsForProxy();
    return { outcome: null, written: null };
  }

  /**
   * Sends the request and acquires a place in the outcome buffer. While PostgreSQL falls behind, a request that has ended keeps
   * its slot until it has that place. Returns null when the egress proxy failed, so that there is no outcome.
   */
  private async send(delivery: Attempt, whenEnded: WhenEnded): Promise<Outcome | null> {
    let speed: Speed = null;
    try {
      const outcome = await this.request(delivery);
      if (outcome === null) return null;
      speed = speedOf(outcome);
      await this.outcomeBuffer.acquire();
      return outcome;
    } finally {
      whenEnded(speed);
    }
  }

  /**
   * Inserts a pending row for an attempt that takes longer than a second, so that the log shows it and its event need not wait.
   */
  private async insertWhenSlow(first: FirstAttempt, sending: Promise<unknown>, whenRow: () => void): Promise<boolean> {
    if (!(await takesLongerThan(PENDING_AFTER_MS, sending))) return false;
    const isInserted = await this.outcomes.insertPending(first, false).then(
      () => true,
      () => false,
    );
    if (isInserted) whenRow();
    return isInserted;
  }

  private async request(delivery: Attempt): Promise<Outcome | null> {
    const { webhook } = delivery;
    if (!webhook) return this.unsent(delivery, 'canceled', 'webhook_deleted');
    if (!webhook.active && delivery.trigger !== 'test') return this.unsent(delivery, 'canceled', 'webhook_disabled');
    const timeoutMs = Math.min(webhook.timeoutMs ?? Infinity, this.config.deliveryTimeoutMs);
    const span = startDeliver(delivery, webhook);
    try {
      const sent = await this.sender.send(delivery, webhook, timeoutMs, span);
      if (sent && isPutBack(delivery, sent)) {
        endSpan(span, 'proxy_failed');
        return null;
      }
      const outcome = sent
        ? { deliveryId: delivery.id, exchange: sent.exchange, ...this.outcomeOf(delivery, webhook, sent, timeoutMs) }
        : this.unsent(delivery, 'failed', 'internal');
      endDeliver(span, outcome);
      return outcome;
    } catch (error) {
      failSpan(span, error);
      throw error;
    }
  }

  private outcomeOf(
    delivery: Attempt,
    { url, retryDelaysMs }: DueWebhook,
    { exchange, result }: SentRequest,
    timeoutMs: number,
  ): RequestOutcome {
    const isTest = delivery.trigger === 'test';
    const verdict = classify(result, timeoutMs, url);
    if (verdict.status === 'succeeded') {
      return { status: 'succeeded', error: null, retryInMs: null, finalStatus: isTest ? null : 'succeeded' };
    }
    const { error, retry, gone } = verdict;
    const mayRetry = retry && !isTest;
    const delayMs = mayRetry ? retryDelayMs(delivery.attempt, this.config, Math.random(), retryDelaysMs) : null;
    if (delayMs === null) {
      const finalStatus = isTest ? null : gone ? 'gone' : 'out_of_retries';
      return { status: 'failed', error, retryInMs: null, finalStatus };
    }
    const retryInMs = Math.max(delayMs, requestedDelayMs(result, endOf(exchange)));
    return { status: 'failed', error, retryInMs, finalStatus: null };
  }

  private unsent(delivery: Attempt, status: 'failed' | 'canceled', code: ErrorCode): Outcome {
    const error = deliveryError(code, { durationMs: 0, timeoutMs: this.config.deliveryTimeoutMs });
    return { deliveryId: delivery.id, status, error, exchange: null, retryInMs: null, finalStatus: null };
  }
}

const nothing = (): void => undefined;

/** A test has to say at once that the egress proxy failed; everything else waits for it. */
const isPutBack = ({ trigger }: Attempt, { result }: SentRequest): boolean =>
  result.kind === 'failure' && result.code === 'proxy_failed' && trigger !== 'test';

function speedOf({ exchange, error }: Outcome): Speed {
  if (!exchange) return null;
  return error?.code === 'timeout' || exchange.durationMs > SLOW_MS ? 'slow' : 'fast';
}

const endOf = ({ attemptedAt, durationMs }: Exchange): Date => new Date(attemptedAt.getTime() + durationMs);

/** Returns the requested delay in ms. `Retry-After` means "later" only with 429 and 503. */
function requestedDelayMs(result: HttpResult, now: Date): number {
  const counts = result.kind === 'response' && (result.status === 429 || result.status === 503);
  return counts ? retryAfterMs(result.headers['retry-after'], now) : 0;
}

function takesLongerThan(ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms);
    const end = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    work.then(end, end);
  });
}
