import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { Config } from '../../infrastructure/config/config';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { isLocked } from '../../infrastructure/errors/database-error';
import type { Attempted, Outcome, Written } from '../rows/attempt';
import { type DeliveryError, deliveryError, type ErrorCode } from '../rows/delivery-error';
import { outcomeOf, unsent, type Verdict } from '../sending/classify';
import type { LeasedDelivery } from '../rows/claims.repository';
import type { LeaseKey } from '../rows/lease';
import { OutcomesService } from '../sending/outcomes.service';
import { type HeldLease, ConsumerLeasesRepository } from './consumer-leases.repository';

export type Ended = 'succeeded' | { code: 'rejected' | 'timeout'; message: string | null };

const SETTLE_EVERY_MS = 1000;
const MAX_ROWS = 1000;
/** A turn waits this long for rows that another transaction has locked, and for what follows their outcomes. */
const LOCKED_FOR_MS = 250;

/** Writes the outcomes of attempts that consumers make: as they acknowledge them, or when their leases end. */
@Injectable()
export class SettlementsService {
  private readonly logger = new Logger(SettlementsService.name);

  constructor(
    private readonly config: Config,
    private readonly leases: ConsumerLeasesRepository,
    private readonly outcomes: OutcomesService,
    tasks: WorkerTasksService,
  ) {
    const onFailure = logFirst(this.logger, 'Settling leases that have ended');
    tasks.add(new Repeat(() => this.settleEnded(), { everyMs: SETTLE_EVERY_MS, onFailure }));
  }

  /**
   * Returns false when the attempt has an outcome already. Throws while PostgreSQL is unavailable, or when another transaction has
   * locked the row or its webhook for `withinMs`; the lease goes on then.
   */
  private async settle(lease: HeldLease, ended: Ended, withinMs: number): Promise<boolean> {
    const { attemptedAt, durationMs, retryDelaysMs } = lease;
    const exchange = { url: null, attemptedAt, durationMs, requestHeaders: null, formatted: null, response: null };
    const verdict: Verdict =
      ended === 'succeeded'
        ? { status: 'succeeded' }
        : { status: 'failed', error: errorOf(ended, lease), retry: true, gone: false };
    const outcome = outcomeOf(lease, exchange, verdict, {
      schedule: this.config,
      retryDelaysMs,
      random: Math.random(),
    });
    const written = await this.outcomes.settle(outcome, withinMs);
    if (written) await this.follow(lease, outcome, written, withinMs);
    return written !== null;
  }

  /** Settles the attempts with these leases. Returns of each whether it had no outcome yet. */
  async settleAll(
    webhookId: string,
    ends: readonly { key: LeaseKey | null; ended: Ended }[],
    withinMs: number,
  ): Promise<boolean[]> {
    const keys = ends.flatMap(({ key }) => key ?? []);
    const held = await this.leases.held(webhookId, keys);
    return Promise.all(
      ends.map(async ({ key, ended }) => {
        const lease = held.get(key?.random ?? '');
        return lease !== undefined && (await this.settle(lease, ended, withinMs));
      }),
    );
  }

  /** Puts back an attempt that could not be signed, and so was not leased. Throws while PostgreSQL is unavailable. */
  putBack({ id }: LeasedDelivery): Promise<void> {
    return this.outcomes.putBack(id, 'operator');
  }

  /** Ends an attempt that cannot be leased, finally. Throws like `settleAll`. */
  async fail(lease: LeasedDelivery, code: ErrorCode, withinMs: number): Promise<void> {
    const outcome = unsent(lease.id, 'failed', code);
    const written = await this.outcomes.settle(outcome, withinMs);
    if (written) await this.follow(lease, outcome, written, withinMs);
  }

  /** What follows waits as long as another transaction has locked the webhook; its caller waits for `withinMs` at most. */
  private async follow(lease: Attempted, outcome: Outcome, written: Written, withinMs: number): Promise<void> {
    const done = this.outcomes.follow(lease, outcome, written);
    done.catch((error: unknown) => this.logger.warn(`Counting the outcome of ${lease.id} failed: ${String(error)}`));
    await Promise.race([done, pause(withinMs, undefined, { ref: false })]);
  }

  /** Leaves webhooks that another transaction has locked to the next turn. */
  private async settleEnded(): Promise<void> {
    const locked = new Set<string>();
    for (let found = MAX_ROWS; found === MAX_ROWS;) {
      const ended = await this.leases.ended(MAX_ROWS, [...locked]);
      found = ended.length;
      await Promise.all(ended.map((lease) => this.settleTimeout(lease, locked)));
    }
  }

  private async settleTimeout(lease: HeldLease, locked: Set<string>): Promise<void> {
    try {
      await this.settle(lease, { code: 'timeout', message: null }, LOCKED_FOR_MS);
    } catch (error) {
      if (!isLocked(error)) throw error;
      locked.add(lease.webhookId);
    }
  }
}

function errorOf({ code, message }: Exclude<Ended, string>, { leaseMs }: HeldLease): DeliveryError {
  if (code === 'rejected')
    return { code, message: message || deliveryError(code, { durationMs: 0, timeoutMs: 0 }).message };
  const seconds = Math.round(leaseMs / 1000);
  return {
    code,
    message: `The consumer did not acknowledge this message before its lease of ${seconds} s ended. Check whether it still runs, or lease for longer.`,
  };
}
