import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../config/config';
import { Batcher } from '../database/batcher';
import { ClockService } from '../database/clock.service';
import type { HttpResult } from '../destinations/http-result';
import { HttpClient } from '../destinations/http.client';
import { isDatabaseUnavailable } from '../errors/database-error';
import { SecretsService } from '../webhooks/secrets.service';
import type { AttemptRecord, Recorded } from './attempt-record';
import { retryAfterMs, retryDelayMs } from './backoff';
import { classify } from './classify';
import { DeliveriesRepository } from './deliveries.repository';
import type { DueDelivery } from './due-delivery';
import { deliveryError, type ErrorCode } from './failure';
import { prepare } from './prepare';
import { version } from '../config/version';

const MAX_BATCH = 200;
const KEEP_OUTCOME_MS = 120_000;
const WRITE_AGAIN_AFTER_MS = 250;

/** One attempt at sending one delivery: first try, retry, redelivery and test are all this. */
@Injectable()
export class AttemptsService {
  private readonly logger = new Logger('Deliveries');
  private readonly making = new Set<string>();
  private readonly loads = new Batcher<string, DueDelivery | null>((ids) => this.deliveries.loadDue(ids), MAX_BATCH, 2);
  private readonly records = new Batcher<AttemptRecord, Recorded | null>(async (records) => {
    const recorded = await this.deliveries.record(records);
    return records.map(({ deliveryId }) => recorded.get(deliveryId) ?? null);
  }, MAX_BATCH);

  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
    private readonly deliveries: DeliveriesRepository,
    private readonly secrets: SecretsService,
    private readonly http: HttpClient,
  ) {}

  /** Null when there is no such row any more. */
  load(deliveryId: string): Promise<DueDelivery | null> {
    return this.loads.add(deliveryId);
  }

  /**
   * Sends what is still wanted and writes down what came of it. A receiver's failure is an outcome, never an exception.
   * Null when there was nothing to write any more, or when this process is making the same attempt already: a queue that
   * was emptied may be reminded of it meanwhile.
   */
  async make(delivery: DueDelivery): Promise<Recorded | null> {
    if (this.making.has(delivery.id)) return null;
    this.making.add(delivery.id);
    try {
      const record = await this.attempt(delivery);
      const recorded = await this.write(record);
      this.log(delivery, record);
      return recorded;
    } finally {
      this.making.delete(delivery.id);
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

  private async attempt(delivery: DueDelivery): Promise<AttemptRecord> {
    const { webhook } = delivery;
    if (!webhook) return this.unsent(delivery, 'canceled', 'webhook_deleted');
    if (!webhook.active && delivery.trigger !== 'test') return this.unsent(delivery, 'canceled', 'webhook_disabled');
    const secret = this.secrets.open(delivery.webhookId, webhook.sealedSecret);
    if (secret === null) return this.unsent(delivery, 'failed', 'internal');
    const attemptedAt = this.clock.now();
    const request = prepare({ ...delivery, url: webhook.url }, secret, attemptedAt, version);
    const result = await this.http.post(request);
    const exchange = {
      url: webhook.url,
      attemptedAt,
      durationMs: result.durationMs,
      requestHeaders: request.headers,
      response: result.kind === 'response' ? result : null,
    };
    return { deliveryId: delivery.id, exchange, ...this.judge(delivery, result) };
  }

  private judge(delivery: DueDelivery, result: HttpResult): Pick<AttemptRecord, 'status' | 'error' | 'next'> {
    const verdict = classify(result, this.config.deliveryTimeoutMs);
    if (verdict.status === 'succeeded') return { status: 'succeeded', error: null, next: null };
    const retry = verdict.retry && delivery.trigger !== 'test';
    const delayMs = retry ? retryDelayMs(delivery.attempt, this.config, Math.random()) : null;
    if (delayMs === null) return { status: 'failed', error: verdict.error, next: null };
    const atLeastMs = askedToWaitMs(result, this.clock.now());
    const next = { id: this.clock.birth().id, delayMs: Math.max(delayMs, atLeastMs) };
    return { status: 'failed', error: verdict.error, next };
  }

  private unsent(delivery: DueDelivery, status: 'failed' | 'canceled', code: ErrorCode): AttemptRecord {
    const error = deliveryError(code, { durationMs: 0, timeoutMs: this.config.deliveryTimeoutMs });
    return { deliveryId: delivery.id, status, error, exchange: null, next: null };
  }

  private log(delivery: DueDelivery, { status, error, exchange, next }: AttemptRecord): void {
    const { id, webhookId, eventId, event, attempt, trigger } = delivery;
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
    });
  }
}

/** `Retry-After` counts where it means "later": with 429 and 503. */
function askedToWaitMs(result: HttpResult, now: Date): number {
  const counts = result.kind === 'response' && (result.status === 429 || result.status === 503);
  return counts ? retryAfterMs(result.headers['retry-after'], now) : 0;
}
