import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Gauge } from 'prom-client';
import { Config } from '../../infrastructure/config/config';
import { Semaphore } from '../../infrastructure/concurrency/semaphore';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import type { Attempt, FirstAttempt, Outcome, Written } from '../rows/attempt';
import { ClaimsRepository } from '../rows/claims.repository';
import type { Wait } from '../rows/waits';
import { BacklogService } from '../slots/backlog.service';
import type { Speed } from '../slots/fair-share';
import { SlotsService } from '../slots/slots.service';
import { OutcomesService } from './outcomes.service';
import { SenderService } from './sender.service';

const SLOW_MS = 2000;
/** A first attempt that takes longer gets a pending row. */
const PENDING_AFTER_MS = 1000;
const EXTEND_EVERY_MS = 1000;
/** Well before `JOB_LEASE` ends, so that a slow attempt keeps its row. */
const EXTEND_AFTER_MS = 4000;

/** A first attempt that has a row. `over` resolves when the attempt is over. */
export interface Begun {
  over: Promise<void>;
}

/**
 * Makes attempts. First attempts, retries, redeliveries and tests all run here, each in a slot unless it is a test: `SenderService`
 * makes an attempt an outcome, then the slot is free, and `OutcomesService` writes the outcome and does what follows. A receiver's
 * failure is an outcome, never an exception.
 */
@Injectable()
export class AttemptsService implements OnApplicationShutdown {
  private readonly logger = new Logger(AttemptsService.name);
  /** The attempts in flight, and when to extend their leases, in ms by `performance.now()`. */
  private readonly extendAt = new Map<string, number>();
  private readonly extending = setInterval(() => void this.extend(), EXTEND_EVERY_MS).unref();
  private readonly inFlight: Gauge;
  /** Outcomes waiting to be written; at most as many as there are slots. */
  private readonly outcomeBuffer: Semaphore;

  constructor(
    config: Config,
    private readonly slots: SlotsService,
    private readonly sender: SenderService,
    private readonly outcomes: OutcomesService,
    private readonly backlog: BacklogService,
    private readonly claims: ClaimsRepository,
    metrics: MetricsService,
  ) {
    const help = 'Attempts that this process is making, until their outcome is written.';
    this.inFlight = metrics.level('webhooks_attempts_in_flight', help);
    this.outcomeBuffer = new Semaphore(config.deliveryConcurrency);
  }

  onApplicationShutdown(): void {
    clearInterval(this.extending);
  }

  /**
   * Makes the attempt of a claimed row. Does nothing but release the slot when this process is already making it: a job may come
   * twice. Rejects when PostgreSQL does not accept the outcome within two minutes.
   */
  make(delivery: Attempt): Promise<void> {
    if (this.begin(delivery.id)) return this.finish(delivery, this.send(delivery));
    this.release(delivery, null);
    return Promise.resolve();
  }

  /**
   * Makes a first attempt, which has no row. Resolves when it has one: with its outcome, or as a pending row when it takes longer
   * than a second, so that the log shows it and its event need not wait. Otherwise like `make`.
   */
  async makeFirst(first: FirstAttempt): Promise<Begun | void> {
    if (!this.begin(first.id)) return this.release(first, null);
    const sending = this.send(first);
    const hasRow = (await takesLongerThan(PENDING_AFTER_MS, sending)) && (await this.insertPending(first));
    const over = this.finish(first, sending, first, hasRow);
    if (!hasRow) await over;
    return { over };
  }

  /**
   * Sends the request and acquires a place in the outcome buffer. While PostgreSQL falls behind, a request that has ended keeps
   * its slot until it has that place. Returns a wait when the attempt is to be put back.
   */
  private async send(delivery: Attempt): Promise<Outcome | Wait> {
    let speed: Speed = null;
    try {
      const outcome = await this.sender.send(delivery);
      if (typeof outcome === 'string') return outcome;
      speed = speedOf(outcome);
      if (!this.outcomeBuffer.tryAcquire()) await this.outcomeBuffer.acquire();
      return outcome;
    } finally {
      this.release(delivery, speed);
    }
  }

  /** @param first the delivery if it had no row at first; `hasRow` says whether it has one by now */
  private async finish(
    delivery: Attempt,
    sending: Promise<Outcome | Wait>,
    first: FirstAttempt | null = null,
    hasRow = true,
  ): Promise<void> {
    let outcome: Outcome | Wait;
    let written: Written | null;
    try {
      outcome = await sending;
      if (typeof outcome === 'string') return await this.putBack(delivery, outcome, hasRow ? null : first);
      const writing = first && !hasRow ? this.outcomes.insert(first, outcome) : this.outcomes.update(outcome);
      written = await writing.finally(() => this.outcomeBuffer.release());
    } finally {
      this.end(delivery.id);
    }
    // The retry of a first attempt is one more pending row; every other one replaces a row.
    if (first && written?.nextId) this.backlog.note(first.webhookId);
    await this.outcomes.follow(delivery, outcome, written);
  }

  /** Puts the attempt back into its row. A first attempt that has none gets one. */
  private async putBack({ id }: Attempt, wait: Wait, withoutRow: FirstAttempt | null): Promise<void> {
    const isOurs = withoutRow === null || (await this.outcomes.insertPending(withoutRow, false));
    if (isOurs) await this.outcomes.putBack(id, wait);
    if (isOurs && withoutRow) this.backlog.note(withoutRow.webhookId);
  }

  /** Never throws: the row is then inserted with its outcome. */
  private insertPending(first: FirstAttempt): Promise<boolean> {
    return this.outcomes.insertPending(first, false).then(
      () => true,
      () => false,
    );
  }

  /** Returns false when this process is already making the attempt. */
  private begin(deliveryId: string): boolean {
    if (this.extendAt.has(deliveryId)) return false;
    this.extendAt.set(deliveryId, performance.now() + EXTEND_AFTER_MS);
    this.inFlight.inc();
    return true;
  }

  private end(deliveryId: string): void {
    this.extendAt.delete(deliveryId);
    this.inFlight.dec();
  }

  private async extend(): Promise<void> {
    const now = performance.now();
    const ids: string[] = [];
    // The entries are ordered by time: after the first that is not due, none is.
    for (const [id, at] of this.extendAt) {
      if (at > now) break;
      ids.push(id);
    }
    for (const id of ids) {
      this.extendAt.delete(id);
      this.extendAt.set(id, now + EXTEND_AFTER_MS);
    }
    try {
      if (ids.length > 0) await this.claims.extendLeases(ids);
    } catch (error) {
      this.logger.debug(`Extending the leases of slow attempts failed; retrying in 4 s: ${String(error)}`);
    }
  }

  private release(delivery: Attempt, speed: Speed): void {
    if (delivery.trigger !== 'test') this.slots.release(delivery, speed);
  }
}

function speedOf({ exchange, error }: Outcome): Speed {
  if (!exchange) return null;
  return error?.code === 'timeout' || exchange.durationMs > SLOW_MS ? 'slow' : 'fast';
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
