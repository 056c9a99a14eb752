import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../../plumbing/config/config';
import type { MonitoredQueue } from '../../plumbing/config/queue-name';
import { MetricsService } from '../../plumbing/metrics/metrics.service';
import { PostgresQueueClient } from './postgres-queue.client';
import { QueuePositionsRepository } from './queue-positions.repository';
import { QueuePublisherService } from './queue-publisher.service';
import { QueueReaderClient } from './queue-reader.client';
import type { QueueStream } from './queue-stream';
import { RedisQueueClient } from './redis-queue.client';

/** Reads the monitored queues, on Redis or in PostgreSQL, in every worker process. */
@Injectable()
export class QueueMonitorService implements OnApplicationShutdown {
  /** How often a stream had been trimmed before it was read, by queue. */
  private readonly losses = new Map<string, number>();
  private readers: QueueReaderClient[] = [];

  constructor(
    private readonly config: Config,
    private readonly positions: QueuePositionsRepository,
    private readonly publisher: QueuePublisherService,
    @InjectDataSource() private readonly dataSource: DataSource,
    metrics: MetricsService,
  ) {
    const help = "How often a monitored queue's stream had been trimmed before it was read.";
    metrics.counterFrom('webhooks_monitored_queue_losses_total', help, 'queue', this.losses);
  }

  /** Reads all monitored queues from now on. */
  start(): void {
    const { positions, publisher } = this;
    const tools = { positions, publisher, onLoss: (queue: string) => this.count(queue) };
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

  /** Ends all readers. What they were publishing is committed, or the next reader publishes it. */
  async stop(): Promise<void> {
    await Promise.all(this.readers.splice(0).map((reader) => reader.stop()));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  private streamOf(queue: MonitoredQueue): QueueStream {
    const redisUrl = this.config.monitoredQueuesRedisUrl ?? this.config.redisUrl;
    return redisUrl === null ? new PostgresQueueClient(this.dataSource, queue) : new RedisQueueClient(redisUrl, queue);
  }

  private count(queue: string): void {
    this.losses.set(queue, (this.losses.get(queue) ?? 0) + 1);
  }
}
