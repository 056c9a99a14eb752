import { Injectable, Logger } from '@nestjs/common';
import type { Queue, RedisQueueBackend } from 'bullmq';
import { Config } from '../config/config';
import { HealthService, UnhealthyError } from '../health/health.service';
import { SharedStateService } from '../database/shared-state.service';
import { MetricsService, type Sample } from '../metrics/metrics.service';
import { RepeatFilter } from './repeat-filter';

/** Whether processes of the service with their queues on this store use the database, by the names of their connections. */
const connectionsWith = (store: string): string => `
  select (count(*) > 0)::int::text from pg_stat_activity
  where datname = current_database() and application_name = 'webhook-notification-service, queues on ${store}'`;

const STATES = ['waiting', 'delayed'] as const;

/** The key that a readiness check writes for each queue; in a cluster it is on the node of the queue. */
const WRITE_CHECK_KEY = 'write-check';
const WRITE_CHECK_EXPIRES_SECONDS = 60;
/** The code with which an error of Redis begins, such as `NOREPLICAS`, `OOM` or `MISCONF`. */
const ERROR_CODE = /^[A-Z]{3,}(?= )/;

/** Logs the errors of the queues that modules register, checks that they respond, and measures their depth. */
@Injectable()
export class QueueHealthService {
  private readonly logger = new Logger(QueueHealthService.name);
  private readonly errors = new RepeatFilter();
  private readonly queues: Queue[] = [];

  constructor(
    private readonly config: Config,
    private readonly health: HealthService,
    state: SharedStateService,
    metrics: MetricsService,
  ) {
    const [own, other] = config.redisUrl === null ? ['PostgreSQL', 'Redis'] : ['Redis', 'PostgreSQL'];
    state.watch(connectionsWith(other!), (count) => {
      if (count === '0') return;
      this.logger.warn(
        `Another process has its queues on ${other}, and this one on ${own}: neither takes the jobs of the other, and deliveries ` +
          'are late. Start all processes with the same REDIS_URL, or all without.',
      );
    });
    metrics.gauge('webhooks_queue_jobs', 'Jobs on a queue.', ['queue', 'state'], async () => {
      const depths = await Promise.allSettled(this.queues.map(depthOf));
      // One node of a cluster may be unavailable while the others respond.
      return depths.flatMap((depth) => (depth.status === 'fulfilled' ? depth.value : []));
    });
  }

  watch(queue: Queue): void {
    this.queues.push(queue);
    queue.on('error', (error) => {
      const text = `The queue ${queue.name} reported an error: ${error.message}`;
      if (this.errors.isNews(text, Date.now())) this.logger.warn(text);
    });
    const check = this.config.redisUrl === null ? assertReads : assertTakesWrites;
    this.health.register('queue', () => check(queue));
  }
}

async function assertReads(queue: Queue): Promise<void> {
  await queue.getJobCountByTypes('active');
}

/** A Redis that takes no writes may still answer reads. The write uses the connection that adds the jobs of the queue. */
async function assertTakesWrites(queue: Queue): Promise<void> {
  const client = await (queue.getBackend() as RedisQueueBackend).client;
  try {
    await client.set(queue.toKey(WRITE_CHECK_KEY), '', { EX: WRITE_CHECK_EXPIRES_SECONDS });
  } catch (error) {
    const code = ERROR_CODE.exec(String((error as Error).message))?.[0];
    throw code === undefined ? error : new UnhealthyError(`The queue's Redis takes no writes (${code}).`);
  }
}

async function depthOf(queue: Queue): Promise<Sample<'queue' | 'state'>[]> {
  const counts = await queue.getJobCounts(...STATES);
  // The braces in a queue's name are needed only by Redis.
  const name = queue.name.replaceAll(/[{}]/g, '');
  return STATES.map((state) => ({ labels: { queue: name, state }, value: Number(counts[state] ?? 0) }));
}
