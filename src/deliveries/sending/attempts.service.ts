import { Injectable } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import type { HttpResult } from '../../plumbing/destinations/http-result';
import type { Attempt, ClaimedDelivery, Exchange, FirstAttempt, Outcome, Written } from '../attempt';
import { deliveryError, type ErrorCode } from '../delivery-error';
import type { Pace } from '../slots/fair-share';
import { Semaphore } from '../slots/semaphore';
import { AttemptReportsService } from './attempt-reports.service';
import { AutoDisableService } from './auto-disable.service';
import { retryAfterMs, retryDelayMs } from './backoff';
import { classify } from './classify';
import { OutcomesService } from './outcomes.service';
import { SenderService, type SentRequest } from './sender.service';

const SLOW_MS = 2000;
/** A first attempt that takes longer gets a pending row, so that the log shows it and its event need not wait for it. */
const PENDING_AFTER_MS = 1000;

type Write = (outcome: Outcome) => Promise<Written | null>;
type Judgement = Pick<Outcome, 'status' | 'error' | 'retryInMs' | 'ending'>;

/** One attempt at sending one delivery. First try, retry, redelivery and test are all this. */
@Injectable()
export class AttemptsService {
  /** Outcomes that wait to be written: at most as many as there are slots. */
  private readonly outcomeBuffer: Semaphore;

  constructor(
    private readonly config: Config,
    private readonly sender: SenderService,
    private readonly reports: AttemptReportsService,
    private readonly outcomes: OutcomesService,
    private readonly autoDisable: AutoDisableService,
  ) {
    this.outcomeBuffer = new Semaphore(config.deliveryConcurrency);
  }

  /**
   * Sends what is still wanted, writes down what came of it, offers the retry when one follows, and tells the webhook how its
   * event ended. A receiver's failure is an outcome, never an exception. Does nothing when this process is making the same
   * attempt already (a queue that was emptied may offer it again meanwhile). Throws when PostgreSQL does not take the outcome
   * within two minutes.
   * @param whenEnded called once, when the request has ended: from then on only its outcome is written
   */
  make(delivery: ClaimedDelivery, whenEnded: (pace: Pace) => void = () => undefined): Promise<void> {
    return this.run(delivery, whenEnded, (outcome) => this.outcomes.update(outcome));
  }

  /**
   * Makes an attempt that has no row yet, as `make` does. Its row is inserted with the outcome, or after a second as a
   * pending one.
   * @param whenRow called when there is a row before there is an outcome
   */
  async makeFirst(first: FirstAttempt, whenEnded: (pace: Pace) => void, whenRow: () => void): Promise<void> {
    let isPending = Promise.resolve(false);
    const slow = setTimeout(() => {
      const rowThere = (): boolean => (whenRow(), true);
      isPending = this.outcomes.insertPending(first, false).then(rowThere, () => false);
    }, PENDING_AFTER_MS);
    try {
      await this.run(first, whenEnded, async (outcome) => {
        clearTimeout(slow);
        return (await isPending) ? this.outcomes.update(outcome) : this.outcomes.insert(first, outcome);
      });
    } finally {
      clearTimeout(slow);
    }
  }

  private async run(attempt: Attempt, whenEnded: (pace: Pace) => void, write: Write): Promise<void> {
    if (!this.reports.begin(attempt.id)) {
      whenEnded(null);
      return;
    }
    let outcome: Outcome;
    let written: Written | null;
    try {
      outcome = await this.attempt(attempt, whenEnded);
      written = await write(outcome).finally(() => this.outcomeBuffer.release());
      this.reports.report(attempt, outcome, written);
    } finally {
      this.reports.end(attempt.id);
    }
    if (!written) return;
    await this.outcomes.offerNext(written, attempt);
    await this.autoDisable.note(attempt, outcome, written);
  }

  /** Ends with a place in the outcome buffer. Where PostgreSQL falls behind, an ended request keeps its slot until then. */
  private async attempt(attempt: Attempt, whenEnded: (pace: Pace) => void): Promise<Outcome> {
    let pace: Pace = null;
    try {
      const outcome = await this.request(attempt);
      pace = paceOf(outcome);
      await this.outcomeBuffer.acquire();
      return outcome;
    } finally {
      whenEnded(pace);
    }
  }

  private async request(delivery: Attempt): Promise<Outcome> {
    const { webhook } = delivery;
    if (!webhook) return this.unsent(delivery, 'canceled', 'webhook_deleted');
    if (!webhook.active && delivery.trigger !== 'test') return this.unsent(delivery, 'canceled', 'webhook_disabled');
    const sent = await this.sender.send(delivery, webhook);
    if (!sent) return this.unsent(delivery, 'failed', 'internal');
    return { deliveryId: delivery.id, exchange: sent.exchange, ...this.judge(delivery, sent) };
  }

  private judge(delivery: Attempt, { exchange, result }: SentRequest): Judgement {
    const isTest = delivery.trigger === 'test';
    const verdict = classify(result, this.config.deliveryTimeoutMs, delivery.webhook?.url);
    if (verdict.status === 'succeeded') {
      return { status: 'succeeded', error: null, retryInMs: null, ending: isTest ? null : 'succeeded' };
    }
    const { error, retry, gone } = verdict;
    const delayMs = retry && !isTest ? retryDelayMs(delivery.attempt, this.config, Math.random()) : null;
    if (delayMs === null) {
      const ending = isTest ? null : gone ? 'gone' : 'out_of_retries';
      return { status: 'failed', error, retryInMs: null, ending };
    }
    const retryInMs = Math.max(delayMs, askedToWaitMs(result, endOf(exchange)));
    return { status: 'failed', error, retryInMs, ending: null };
  }

  private unsent(delivery: Attempt, status: 'failed' | 'canceled', code: ErrorCode): Outcome {
    const error = deliveryError(code, { durationMs: 0, timeoutMs: this.config.deliveryTimeoutMs });
    return { deliveryId: delivery.id, status, error, exchange: null, retryInMs: null, ending: null };
  }
}

function paceOf({ exchange, error }: Outcome): Pace {
  if (!exchange) return null;
  return error?.code === 'timeout' || exchange.durationMs > SLOW_MS ? 'slow' : 'fast';
}

const endOf = ({ attemptedAt, durationMs }: Exchange): Date => new Date(attemptedAt.getTime() + durationMs);

/** `Retry-After` counts where it means "later": with 429 and 503. */
function askedToWaitMs(result: HttpResult, now: Date): number {
  const counts = result.kind === 'response' && (result.status === 429 || result.status === 503);
  return counts ? retryAfterMs(result.headers['retry-after'], now) : 0;
}
