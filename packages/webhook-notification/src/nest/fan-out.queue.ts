import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { optionalPackage } from './optional-package';
import type { Transaction } from './transaction';

/** The queue of the service's workers, and the job options that they expect. */
const NAME = '{fan-out}';
const JOB_OPTIONS = {
  attempts: 5,
  backoff: { type: 'exponential', delay: 200 },
  removeOnComplete: true,
  removeOnFail: true,
};
const MAX_WAITING = 10_000;
const MAX_IDS_PER_JOB = 100;
const CLOSE_WITHIN_MS = 2000;
/** A command fails at once while Redis is unavailable. A Redis that has become a replica is left for a new connection. */
const SURVIVING = {
  reconnectOnError: ({ message }: Error) => /\bREADONLY\b/.test(message),
  maxRetriesPerRequest: 1,
  enableOfflineQueue: false,
  commandTimeout: 500,
  connectTimeout: 2000,
  socketTimeout: 3000,
};

/** The transaction state of a TypeORM query runner. */
interface Runner {
  isTransactionActive: boolean;
}

/** Enqueues events for the service's workers as soon as they are committed. The service finds all others by itself. */
export class FanOutQueue {
  private readonly logger = new Logger('WebhookNotification');
  private readonly queue: Queue;
  private waiting: string[] = [];
  private adding: Promise<void> | undefined;
  private isAway = false;
  private isClosed = false;
  private readonly uncommitted = new WeakMap<Runner, string[]>();

  /** @throws Error when bullmq is not installed, or for more than one Redis, or Sentinel */
  constructor(url: string) {
    if (/,|\+sentinel:/.test(url)) {
      throw new Error(
        'redisUrl names one Redis. Leave it out for a cluster or Sentinel: the service finds each event within a second.',
      );
    }
    const bullmq = optionalPackage<typeof import('bullmq')>('bullmq');
    // Without skipVersionCheck, the queue would never recover from a failed first command.
    const options = { defaultJobOptions: JOB_OPTIONS, skipVersionCheck: true };
    // A connection is reopened within a second of the return of its Redis.
    const retryStrategy = (attempt: number) => (this.isClosed ? null : Math.min(100 * attempt, 1000));
    const connection = { url, ...SURVIVING, retryStrategy };
    this.queue = new bullmq.Queue(NAME, { ...options, connection }, bullmq.createRedisBackend);
    this.queue.on('error', (error) => this.away(error));
  }

  /** Watches a TypeORM DataSource for committed transactions. */
  watch(connection: Transaction): void {
    const { subscribers } = connection as { subscribers?: object[] };
    subscribers?.push({
      afterTransactionCommit: ({ queryRunner }: { queryRunner: Runner }) => this.committed(queryRunner),
      afterTransactionRollback: ({ queryRunner }: { queryRunner: Runner }) => this.rolledBack(queryRunner),
    });
  }

  /** Enqueues events at once, or after the commit where that is known. Never throws and never blocks. */
  enqueue(ids: readonly string[], tx: Transaction | undefined): void {
    if (!tx) return this.add(ids);
    const { queryRunner } = tx as { queryRunner?: Runner };
    if (!queryRunner) return;
    if (!queryRunner.isTransactionActive) return this.add(ids);
    this.uncommitted.set(queryRunner, [...(this.uncommitted.get(queryRunner) ?? []), ...ids].slice(0, MAX_WAITING));
  }

  /** Waits at most 2 s for an unavailable Redis. */
  async close(): Promise<void> {
    this.isClosed = true;
    const tooLate = new Promise((resolve) => setTimeout(resolve, CLOSE_WITHIN_MS).unref());
    await Promise.race([this.closed(), tooLate]);
  }

  private async closed(): Promise<void> {
    await this.adding;
    await this.queue.close();
  }

  /** TypeORM calls this for savepoints too. An event of a rolled back savepoint is enqueued, but its row does not exist. */
  private committed(runner: Runner): void {
    if (runner.isTransactionActive) return;
    this.add(this.uncommitted.get(runner) ?? []);
    this.uncommitted.delete(runner);
  }

  private rolledBack(runner: Runner): void {
    if (!runner.isTransactionActive) this.uncommitted.delete(runner);
  }

  private add(ids: readonly string[]): void {
    this.waiting.push(...ids.slice(0, MAX_WAITING - this.waiting.length));
    this.adding ??= this.addAll();
  }

  /** Events that arrive while a job is being added wait for the next one. */
  private async addAll(): Promise<void> {
    await nextTurn();
    while (this.waiting.length > 0) {
      const eventIds = this.waiting.splice(0, MAX_IDS_PER_JOB);
      await this.queue.add('fan-out', { eventIds }).then(
        () => (this.isAway = false),
        (error: unknown) => this.away(error),
      );
    }
    this.adding = undefined;
  }

  private away(error: unknown): void {
    if (!this.isAway)
      this.logger.warn(`The service finds events by itself, because its Redis is away: ${String(error)}`);
    this.isAway = true;
  }
}
