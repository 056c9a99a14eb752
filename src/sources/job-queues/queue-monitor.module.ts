import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module';
import { QueueJobsRepository } from './queue-jobs.repository';
import { QueueMonitorService } from './queue-monitor.service';
import { QueuePositionsRepository } from './queue-positions.repository';
import { QueuePublisherService } from './queue-publisher.service';

@Module({
  imports: [EventsModule],
  providers: [QueueJobsRepository, QueueMonitorService, QueuePositionsRepository, QueuePublisherService],
})
export class QueueMonitorModule {}
