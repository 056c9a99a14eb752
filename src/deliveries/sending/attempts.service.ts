import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import { Batcher } from '../../plumbing/database/batcher';
import type { HttpResult } from '../../plumbing/destinations/http-result';
import { isDatabaseUnavailable } from '../../plumbing/errors/database-error';
import type { DueDelivery, Exchange, Outcome, Written } from '../attempt';
import { DeliveriesRepository } from '../deliveries.repository';
import { deliveryError, type ErrorCode } from '../delivery-error';
import { SendQueue } from '../send.queue';
import type { Pace } from '../slots/fair-share';
import { Semaphore } from '../slots/semaphore';
import { AttemptReportsService } from './attempt-reports.service';
import { retryAfterMs, retryDelayMs } from './backoff';
import { classify } from './classify';
import { SenderService, type SentRequest } from './sender.service';

const MAX_BATCH = 200;
const SLOW_MS = 2000;
const KEEP_OUTCOME_MS = 120_000;
const WRITE_AGAIN_AFTER_MS = 250;

type Judgement = Pick<Outcome, 'status' | 'error' | 'retryInMs' | 'ending'>;

/** One attempt at sending one delivery. First try, retry, redelivery and test are all this. */
@Injectable()
export class AttemptsService {
  private readonly writes = new Batcher<Outcome, Written | null>(async (outcomes) => {
    const written = await this.deliveries.record(outcomes);
    return outcomes.map(({ deliveryId }) => written.get(deliveryId) ?? null);
  }, MAX_BATCH);
  /** Outcomes that wait to be written: at most as many as there are slots. */
  private readonly outcomeBuffer: Semaphore;

  constructor(
    private readonly config: Config,
    private readonly deliveries: DeliveriesRepository,
    private readonly sender: SenderService,
    private readonly reports: AttemptReportsService,
    private readonly queue: SendQueue,
  ) {
    this.outcomeBuffer = new Semaphore(config.deliveryConcurrency);
  }

  /**
   * Sends what is still wanted, writes down what came of it, and offers the retry when one follows. A receiver's failure is
   * an outcome, never an exception. Throws when PostgreSQL does not take the outcome within two minutes.
   * @param whenEnded called once, when the request has ended: from then on only its outcome is written
   * @returns what was written, and how the event ended with it; null when there was nothing to write any more, or when this
   *   process is making the same attempt already (a queue that was emptied may offer it again meanwhile)
   */
  async make(
    delivery: DueDelivery,
    whenEnded: (pace: Pace) => void = () => undefined,
  ): Promise<(Written & Pick<Outcome, 'ending'>) | null> {
    if (!this.reports.begin(delivery.id)) {
      whenEnded(null);
      return null;
    }
    let outcome: Outcome;
    let written: Written | null;
    try {
      outcome = await this.attempt(delivery, whenEnded);
      written = await this.write(outcome).finally(() => this.outcomeBuffer.release());
      this.reports.report(delivery, outcome, written);
    } finally {
      this.reports.end(delivery.id);
    }
    if (written?.nextId) await this.queue.offer([written.nextId], written.nextInMs ?? 0);
    return written && { ...written, ending: outcome.ending };
  }

  /** Ends with a place in the outcome buffer. Where PostgreSQL falls behind, an ended request keeps its slot until then. */
  private async attempt(delivery: DueDelivery, whenEnded: (pace: Pace) => void): Promise<Outcome> {
    let pace: Pace = null;
    try {
      const outcome = await this.request(delivery);
      pace = paceOf(outcome);
      await this.outcomeBuffer.acquire();
      return outcome;
    } finally {
      whenEnded(pace);
    }
  }

  /** Keeps an outcome while PostgreSQL is away: the request was made, and another attempt would double it. */
  private async write(outcome: Outcome): Promise<Written | null> {
    const giveUpAt = Date.now() + KEEP_OUTCOME_MS;
    for (;;) {
      try {
        return await this.writes.add(outcome);
      } catch (error) {
        if (!isDatabaseUnavailable(error) || Date.now() > giveUpAt) throw error;
        await pause(WRITE_AGAIN_AFTER_MS);
      }
    }
  }

  private async request(delivery: DueDelivery): Promise<Outcome> {
    const { webhook } = delivery;
    if (!webhook) return this.unsent(delivery, 'canceled', 'webhook_deleted');
    if (!webhook.active && delivery.trigger !== 'test') return this.unsent(delivery, 'canceled', 'webhook_disabled');
    const sent = await this.sender.send(delivery, webhook);
    if (!sent) return this.unsent(delivery, 'failed', 'internal');
    return { deliveryId: delivery.id, exchange: sent.exchange, ...this.judge(delivery, sent) };
  }

  private judge(delivery: DueDelivery, { exchange, result }: SentRequest): Judgement {
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

  private unsent(delivery: DueDelivery, status: 'failed' | 'canceled', code: ErrorCode): Outcome {
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
