import { Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { HealthService } from '../health/health.service';
import { RepeatFilter } from './repeat-filter';

/** Each room that owns a queue puts it under watch: its errors are logged and readiness asks whether it answers. */
@Injectable()
export class QueueHealthService {
  private readonly logger = new Logger('Queue');
  private readonly errors = new RepeatFilter();

  constructor(private readonly health: HealthService) {}

  watch(queue: Queue): void {
    queue.on('error', (error) => {
      const text = `The queue ${queue.name} met an error: ${error.message}`;
      if (this.errors.isNews(text, Date.now())) this.logger.warn(text);
    });
    this.health.register('queue', async () => void (await queue.getJobCountByTypes('active')));
  }
}
