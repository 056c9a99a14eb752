import { Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { HealthService } from '../health/health.service';

/** Each room that owns a queue puts it under watch: its errors are logged and readiness asks whether it answers. */
@Injectable()
export class QueueHealthService {
  private readonly logger = new Logger('Queue');

  constructor(private readonly health: HealthService) {}

  watch(queue: Queue): void {
    queue.on('error', (error) => this.logger.warn(`The queue ${queue.name} met an error: ${error.message}`));
    this.health.register('queue', async () => void (await queue.getJobCountByTypes('active')));
  }
}
