import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../infrastructure/config/config';
import type { MonitoredQueue } from '../../infrastructure/config/queue-name';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import { type WorkerTask, WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { PostgresQueueClient } from './postgres-queue.client';
import { QueuePositionsRepository } from './queue-positions.repository';
import { QueuePublisherService } from './queue-publisher.service';
import { QueueReaderClient } from './queue-reader.client';
import type { QueueStream } from './queue-stream';
import { RedisQueueClient } from './redis-queue.client';

@Injectable()
export class QueueMonitorService implements WorkerTask {
  private readonly losses = new Map<string, number>();
  private readers: QueueReaderClient[] = [];

  constructor(
    private readonly config: Config,
    private readonly positions: QueuePositionsRepository,
    private readonly publisher: QueuePublisherService,
    private readonly dataSource: DataSource,
    tasks: WorkerTasksService,
    metrics: MetricsService,
  ) {
    tasks.add(this);
    const help = "How often a monitored queue's stream had been trimmed before it was read.";
    metrics.counterFrom('webhooks_monitored_queue_losses_total', help, 'queue', this.losses);
  }

  start(): void {
    const { positions, publisher } = this;
    const tools = {
      positions,
      publisher,
      onLoss: (queue: string) => this.losses.set(queue, (this.losses.get(queue) ?? 0) + 1),
    };
    // `reports` and `bull:reports` are the same queue.
    const queues = new Map<string, [MonitoredQueue, QueueStream]>();
    for (const queue of this.config.monitoredQueues) {
      const stream = this.streamOf(queue);
      const isAutomation = queue.isAutomation || (queues.get(stream.key)?.[0].isAutomation ?? false);
      queues.set(stream.key, [{ ...queue, isAutomation }, stream]);
      this.losses.set(stream.key, 0);
    }
    this.readers = [...queues.values()].map(([queue, stream]) => new QueueReaderClient(queue, stream, tools));
  }

  /** Stops all readers. The events that they were publishing are committed, or the next reader publishes them. */
  async stop(): Promise<void> {
    await Promise.all(this.readers.splice(0).map((reader) => reader.stop()));
  }

  private streamOf(queue: MonitoredQueue): QueueStream {
    const redisUrl = this.config.monitoredQueuesRedisUrl ?? this.config.redisUrl;
    return redisUrl === null ? new PostgresQueueClient(this.dataSource, queue) : new RedisQueueClient(redisUrl, queue);
  }
}
