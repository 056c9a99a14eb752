import { Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { HealthService } from '../health/health.service';
import { MetricsService, type Sample } from '../metrics/metrics.service';
import { RepeatFilter } from './repeat-filter';

const STATES = ['waiting', 'delayed'] as const;

/** Logs the errors of the queues that modules register, checks that they respond, and measures their depth. */
@Injectable()
export class QueueHealthService {
  private readonly logger = new Logger(QueueHealthService.name);
  private readonly errors = new RepeatFilter();
  private readonly queues: Queue[] = [];

  constructor(
    private readonly health: HealthService,
    metrics: MetricsService,
  ) {
    metrics.gauge('webhooks_queue_jobs', 'Jobs on a queue.', ['queue', 'state'], async () => {
      const depths = await Promise.allSettled(this.queues.map(depthOf));
      // One node of a cluster may be unavailable while the others respond.
      return depths.flatMap((depth) => (depth.status === 'fulfilled' ? depth.value : []));
    });
  }

  /** Monitors this queue from now on. Call it once per queue. */
  watch(queue: Queue): void {
    this.queues.push(queue);
    queue.on('error', (error) => {
      const text = `The queue ${queue.name} reported an error: ${error.message}`;
      if (this.errors.isNews(text, Date.now())) this.logger.warn(text);
    });
    this.health.register('queue', async () => void (await queue.getJobCountByTypes('active')));
  }
}

async function depthOf(queue: Queue): Promise<Sample<'queue' | 'state'>[]> {
  const counts = await queue.getJobCounts(...STATES);
  // The braces in a queue's name are needed only by Redis.
  const name = queue.name.replaceAll(/[{}]/g, '');
  return STATES.map((state) => ({ labels: { queue: name, state }, value: Number(counts[state] ?? 0) }));
}
