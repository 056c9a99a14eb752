import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import { Batcher } from '../../plumbing/database/batcher';
import { ClockService } from '../../plumbing/database/clock.service';
import type { HttpResult } from '../../plumbing/destinations/http-result';
import { isDatabaseUnavailable } from '../../plumbing/errors/database-error';
import type { AttemptRecord, Made, Recorded } from '../attempt';
import { AttemptReportsService } from './attempt-reports.service';
import { retryAfterMs, retryDelayMs } from './backoff';
import { classify } from './classify';
import { DeliveriesRepository } from '../deliveries.repository';
import type { DueDelivery } from '../due-delivery';
import { deliveryError, type ErrorCode } from '../delivery-error';
import type { Pace } from '../slots/fair-share';
import { Permits } from '../slots/semaphore';
import { SenderService } from './sender.service';

const MAX_BATCH = 200;
const SLOW_MS = 2000;
const KEEP_OUTCOME_MS = 120_000;
const WRITE_AGAIN_AFTER_MS = 250;

type Judgement = Pick<AttemptRecord, 'status' | 'error' | 'next' | 'ending'>;

/** One attempt at sending one delivery: first try, retry, redelivery and test are all this. */
@Injectable()
export class AttemptsService {
  private readonly loads = new Batcher<string, DueDelivery | null>((ids) => this.deliveries.loadDue(ids), MAX_BATCH, 2);
  private readonly records = new Batcher<AttemptRecord, Recorded | null>(async (records) => {
    const recorded = await this.deliveries.record(records);
    return records.map(({ deliveryId }) => recorded.get(deliveryId) ?? null);
  }, MAX_BATCH);
  /** Outcomes that may wait to be written at once: as many as there are slots. */
  private readonly unwritten: Permits;

  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
    private readonly deliveries: DeliveriesRepository,
    private readonly sender: SenderService,
    private readonly reports: AttemptReportsService,
  ) {
    this.unwritten = new Permits(config.deliveryConcurrency);
  }

  /** Null when there is no such row any more. */
  load(deliveryId: string): Promise<DueDelivery | null> {
    return this.loads.add(deliveryId);
  }

  /**
   * Sends what is still wanted and writes down what came of it. A receiver's failure is an outcome, never an exception.
   * @param whenEnded called once, when the request has ended: from then on only its outcome is written
   * @returns null when there was nothing to write any more, or when this process is making the same attempt already: a
   *   queue that was emptied may be reminded of it meanwhile
   */
  async make(delivery: DueDelivery, whenEnded: (pace: Pace) => void = () => undefined): Promise<Made | null> {
    if (!this.reports.begin(delivery.id)) {
      whenEnded(null);
      return null;
    }
    try {
      const record = await this.attempt(delivery, whenEnded);
      const recorded = await this.write(record).finally(() => this.unwritten.give());
      this.reports.report(delivery, record, recorded);
      return recorded && { ...recorded, ending: record.ending };
    } finally {
      this.reports.end(delivery.id);
    }
  }

  /** Ends with a permit to write: where PostgreSQL falls behind, what has ended keeps its slot until it has one. */
  private async attempt(delivery: DueDelivery, whenEnded: (pace: Pace) => void): Promise<AttemptRecord> {
    let pace: Pace = null;
    try {
      const record = await this.request(delivery);
      pace = paceOf(record);
      await this.unwritten.take();
      return record;
    } finally {
      whenEnded(pace);
    }
  }

  /** Keeps an outcome while PostgreSQL is away: the request was made, and making it again would double it. */
  private async write(record: AttemptRecord): Promise<Recorded | null> {
    const giveUpAt = Date.now() + KEEP_OUTCOME_MS;
    for (;;) {
      try {
        return await this.records.add(record);
      } catch (error) {
        if (!isDatabaseUnavailable(error) || Date.now() > giveUpAt) throw error;
        await pause(WRITE_AGAIN_AFTER_MS);
      }
    }
  }

  private async request(delivery: DueDelivery): Promise<AttemptRecord> {
    const { webhook } = delivery;
    if (!webhook) return this.unsent(delivery, 'canceled', 'webhook_deleted');
    if (!webhook.active && delivery.trigger !== 'test') return this.unsent(delivery, 'canceled', 'webhook_disabled');
    const sent = await this.sender.send(delivery, webhook);
    if (!sent) return this.unsent(delivery, 'failed', 'internal');
    return { deliveryId: delivery.id, exchange: sent.exchange, ...this.judge(delivery, sent.result) };
  }

  private judge(delivery: DueDelivery, result: HttpResult): Judgement {
    const isTest = delivery.trigger === 'test';
    const verdict = classify(result, this.config.deliveryTimeoutMs, delivery.webhook?.url);
    if (verdict.status === 'succeeded') {
      return { status: 'succeeded', error: null, next: null, ending: isTest ? null : 'succeeded' };
    }
    const { error, retry, gone } = verdict;
    const delayMs = retry && !isTest ? retryDelayMs(delivery.attempt, this.config, Math.random()) : null;
    if (delayMs === null) {
      const ending = isTest ? null : gone ? 'gone' : 'out_of_retries';
      return { status: 'failed', error, next: null, ending };
    }
    const atLeastMs = askedToWaitMs(result, this.clock.now());
    const next = { id: this.clock.birth().id, delayMs: Math.max(delayMs, atLeastMs) };
    return { status: 'failed', error, next, ending: null };
  }

  private unsent(delivery: DueDelivery, status: 'failed' | 'canceled', code: ErrorCode): AttemptRecord {
    const error = deliveryError(code, { durationMs: 0, timeoutMs: this.config.deliveryTimeoutMs });
    return { deliveryId: delivery.id, status, error, exchange: null, next: null, ending: null };
  }
}

function paceOf({ exchange, error }: AttemptRecord): Pace {
  if (!exchange) return null;
  return error?.code === 'timeout' || exchange.durationMs > SLOW_MS ? 'slow' : 'fast';
}

/** `Retry-After` counts where it means "later": with 429 and 503. */
function askedToWaitMs(result: HttpResult, now: Date): number {
  const counts = result.kind === 'response' && (result.status === 429 || result.status === 503);
  return counts ? retryAfterMs(result.headers['retry-after'], now) : 0;
}
