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
/** The service may get another prefix, or a version that has one, while the application runs. */
const READ_PREFIX_EVERY_MS = 60_000;
/** A command fails at once while Redis is unavailable. A Redis that has become a replica is left for a new connection. */
const SURVIVING = {
  reconnectOnError: ({ message }: Error) => /\bREADONLY\b/.test(message),
  maxRetriesPerRequest: 1,
  enableOfflineQueue: false,
  commandTimeout: 500,
  connectTimeout: 2000,
  socketTimeout: 3000,
};

interface StoredEvent {
  id: string;
  userId: string | null;
}

/** The transaction state of a TypeORM query runner. */
interface Runner {
  isTransactionActive: boolean;
}

/** Enqueues events for the service's workers as soon as they are committed. The service finds all others by itself. */
export class FanOutQueue {
  private readonly logger = new Logger('WebhookNotification');
  private queue: Queue | undefined;
  private prefixReadAt = -Infinity;
  private waiting: StoredEvent[] = [];
  private adding: Promise<void> | undefined;
  private isAway = false;
  private isClosed = false;
  private readonly uncommitted = new WeakMap<Runner, StoredEvent[]>();

  private readonly bullmq: typeof import('bullmq');

  /**
   * @param readPrefix returns the prefix of the service's queues; undefined is that of BullMQ
   * @throws Error when bullmq is not installed, or for more than one Redis, or Sentinel
   */
  constructor(
    private readonly url: string,
    private readonly readPrefix: () => Promise<string | undefined>,
  ) {
    if (/,|\+sentinel:/.test(url)) {
      throw new Error(
        'redisUrl names one Redis. Leave it out for a cluster or Sentinel: the service finds each event within a second.',
      );
    }
    this.bullmq = optionalPackage<typeof import('bullmq')>('bullmq');
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
  enqueue(events: readonly StoredEvent[], tx: Transaction | undefined): void {
    if (!tx) return this.add(events);
    const { queryRunner } = tx as { queryRunner?: Runner };
    if (!queryRunner) return;
    if (!queryRunner.isTransactionActive) return this.add(events);
    this.uncommitted.set(queryRunner, [...(this.uncommitted.get(queryRunner) ?? []), ...events].slice(0, MAX_WAITING));
  }

  /** Waits at most 2 s for an unavailable Redis. */
  async close(): Promise<void> {
    this.isClosed = true;
    const tooLate = new Promise((resolve) => setTimeout(resolve, CLOSE_WITHIN_MS).unref());
    await Promise.race([this.closed(), tooLate]);
  }

  private async closed(): Promise<void> {
    await this.adding;
    await this.queue?.close();
  }

  /** Opens the service's queue, and opens another one when its prefix has changed. */
  private async opened(): Promise<Queue> {
    if (this.queue && performance.now() - this.prefixReadAt < READ_PREFIX_EVERY_MS) return this.queue;
    const prefix = await this.readPrefix();
    this.prefixReadAt = performance.now();
    if (this.queue && this.queue.opts.prefix === prefix) return this.queue;
    void this.queue?.close().catch(() => undefined);
    // Without skipVersionCheck, the queue would never recover from a failed first command.
    const options = { defaultJobOptions: JOB_OPTIONS, skipVersionCheck: true, prefix };
    // A connection is reopened within a second of the return of its Redis.
    const retryStrategy = (attempt: number) => (this.isClosed ? null : Math.min(100 * attempt, 1000));
    const connection = { url: this.url, ...SURVIVING, retryStrategy };
    this.queue = new this.bullmq.Queue(NAME, { ...options, connection }, this.bullmq.createRedisBackend);
    this.queue.on('error', (error) => this.away(error));
    return this.queue;
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

  private add(events: readonly StoredEvent[]): void {
    if (this.isClosed) return;
    this.waiting.push(...events.slice(0, MAX_WAITING - this.waiting.length));
    this.adding ??= this.addAll();
  }

  /** Events that arrive while a job is being added wait for the next one. */
  private async addAll(): Promise<void> {
    await nextTurn();
    while (this.waiting.length > 0) {
      const events = this.waiting.splice(0, MAX_IDS_PER_JOB);
      const data = { eventIds: events.map(({ id }) => id), userIds: events.map(({ userId }) => userId ?? '') };
      try {
        await (await this.opened()).add('fan-out', data);
        this.isAway = false;
      } catch (error) {
        this.away(error);
      }
    }
    this.adding = undefined;
  }

  private away(error: unknown): void {
    if (!this.isAway)
      this.logger.warn(`The service finds events by itself, because its Redis is away: ${String(error)}`);
    this.isAway = true;
  }
}
