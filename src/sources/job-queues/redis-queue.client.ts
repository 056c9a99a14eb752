import { once } from 'node:events';
import { Redis } from 'ioredis';
import type { QueueName } from '../../infrastructure/config/queue-name';
import { surviving } from '../../infrastructure/queue/queue-connections.client';
import { connected, openRedis, type RedisClient } from '../../infrastructure/queue/redis.client';
import type { JobFacts } from './job-memory';
import { jobUserOf } from './job-user';
import { parsedJson, type QueueEvent, readQueueEvent } from './queue-event';
import type { Cursor, StreamPage, QueueStream } from './queue-stream';

const DEFAULT_PREFIX = 'bull';
const BEGINNING = '0-0';
/** Entries per page. Each may hold a result of any size. */
const MAX_ENTRIES = 200;
const MAX_JOBS_PER_LOAD = 100;
const WAIT_MS = 1000;
/** Maximum response time of a command: longer than a wait. */
const SILENCE_MS = 3000;
/** A connection to a replica is replaced this often. */
const LEAVE_REPLICA_EVERY_MS = 4000;
/** Prefix of Redis's error for a key with a type that the command does not read. */
const WRONG_TYPE = 'WRONGTYPE ';
/** BullMQ counts attempts one by one. A larger number is not its own, and may not fit in PostgreSQL. */
const MAX_ATTEMPTS = 1e9;

type Entry = [id: string, fields: string[]];

/** Event stream of a queue on Redis. Its ids begin with the time, so they never restart. */
export class RedisQueueClient implements QueueStream {
  readonly key: string;
  private readonly stream: string;
  private readonly jobs: string;
  private readonly redis: RedisClient;
  private roleCheckedAt = -Infinity;

  constructor(url: string, { prefix, name }: QueueName) {
    const queue = `${prefix ?? DEFAULT_PREFIX}:${name}`;
    this.key = `redis ${queue}`;
    this.stream = `${queue}:events`;
    this.jobs = `${queue}:`;
    this.redis = openRedis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      commandTimeout: SILENCE_MS,
      ...surviving(SILENCE_MS),
    });
    // The failing command reports the error.
    this.redis.on('error', () => undefined);
  }

  async end(): Promise<Cursor> {
    return { position: (await this.lastId()) ?? BEGINNING, seen: [] };
  }

  async read({ position }: Cursor): Promise<StreamPage> {
    const redis = await connected(this.redis);
    await this.leaveReplica(redis);
    // The entry at the position is included, unless the stream was trimmed beyond it.
    const entries: Entry[] = await redis.xrange(this.stream, position, '+', 'COUNT', MAX_ENTRIES + 1);
    const isWhole = position === BEGINNING || entries[0]?.[0] === position;
    if (!isWhole && entries.length === 0) return this.nothingFound(position);
    const news = entries.filter(([id]) => id !== position);
    const events = news.map(eventOf).filter((event) => event !== null);
    return {
      events,
      next: { position: news.at(-1)?.[0] ?? position, seen: [] },
      loss: isWhole ? null : `events from ${timeOf(position)} to ${timeOf(entries[0]?.[0])} may be missing`,
    };
  }

  async facts(jobIds: readonly string[]): Promise<Map<string, JobFacts | null>> {
    const found = new Map<string, JobFacts | null>();
    for (let i = 0; i < jobIds.length; i += MAX_JOBS_PER_LOAD) {
      const ids = jobIds.slice(i, i + MAX_JOBS_PER_LOAD);
      const pipeline = (await connected(this.redis)).pipeline();
      for (const id of ids) pipeline.hmget(this.jobs + id, 'name', 'data', 'ats', 'stacktrace');
      const answers = (await pipeline.exec()) ?? [];
      answers.forEach(([error, fields], at) => {
        const isNoJob = error?.message.startsWith(WRONG_TYPE) ?? false;
        // Any other error concerns Redis, not this job: the page is read again.
        if (error && !isNoJob) throw error;
        const fact = isNoJob ? null : factsOf(fields as (string | null)[]);
        if (fact || isNoJob) found.set(ids[at] ?? '', fact);
      });
    }
    return found;
  }

  async wait({ position }: Cursor): Promise<void> {
    await (await connected(this.redis)).xread('COUNT', 1, 'BLOCK', WAIT_MS, 'STREAMS', this.stream, position);
  }

  close(): void {
    this.redis.disconnect();
  }

  /**
   * After a failover, the former master may live on as a replica that receives nothing, and reads never fail there: only a
   * new connection reaches the server that the address now leads to. Nodes of a cluster redirect their clients.
   */
  private async leaveReplica(redis: RedisClient): Promise<void> {
    const now = performance.now();
    if (!(redis instanceof Redis) || now - this.roleCheckedAt < LEAVE_REPLICA_EVERY_MS) return;
    this.roleCheckedAt = now;
    // A user without the right to ask stays where it is.
    const replication = await redis.info('replication').catch(() => '');
    if (!replication.includes('role:slave')) return;
    redis.disconnect(true);
    await once(redis, 'ready', { signal: AbortSignal.timeout(SILENCE_MS) });
  }

  /**
   * Handles an empty page. Usually the stream is empty or deleted. A stream that ends before the position is a new one,
   * which is read completely.
   */
  private async nothingFound(position: string): Promise<StreamPage> {
    const last = await this.lastId();
    if (last === null || !isBefore(last, position)) return { events: [], next: { position, seen: [] }, loss: null };
    const loss = `the stream ends before ${timeOf(position)}, so it is a new one and is read from its beginning`;
    return { events: [], next: { position: BEGINNING, seen: [] }, loss };
  }

  private async lastId(): Promise<string | null> {
    const [last] = await (await connected(this.redis)).xrevrange(this.stream, '+', '-', 'COUNT', 1);
    return last?.[0] ?? null;
  }
}

function eventOf([id, fields]: Entry): QueueEvent | null {
  const pairs = fields.flatMap((field, i) => (i % 2 === 0 ? [[field, fields[i + 1]] as const] : []));
  return readQueueEvent(id, new Date(msOf(id)), Object.fromEntries(pairs));
}

function factsOf([name, data, attemptsStarted, stacks]: (string | null)[]): JobFacts | null {
  if (name === null || name === undefined) return null;
  const traces = parsedJson(stacks);
  const stack: unknown = Array.isArray(traces) ? traces.at(-1) : null;
  return {
    name,
    user: jobUserOf((parsedJson(data) as { userId?: unknown } | null)?.userId),
    attemptsStarted: countOf(attemptsStarted),
    stack: typeof stack === 'string' ? stack : null,
  };
}

function countOf(text: string | null | undefined): number {
  const count = Number(text ?? 0);
  return Number.isInteger(count) && count >= 0 && count <= MAX_ATTEMPTS ? count : 0;
}

const msOf = (id: string): number => Number(id.split('-')[0]);
const timeOf = (id = BEGINNING): string => {
  const time = new Date(msOf(id));
  return Number.isNaN(time.getTime()) ? id : time.toISOString();
};

function isBefore(a: string, b: string): boolean {
  const [[aMs = 0, aSequence = 0], [bMs = 0, bSequence = 0]] = [a.split('-').map(Number), b.split('-').map(Number)];
  return aMs < bMs || (aMs === bMs && aSequence < bSequence);
}
