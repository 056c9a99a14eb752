import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module';
import { QueueJobsRepository } from './queue-jobs.repository';
import { QueueLossesService } from './queue-losses.service';
import { QueueMonitorService } from './queue-monitor.service';
import { QueuePositionsRepository } from './queue-positions.repository';
import { QueuePublisherService } from './queue-publisher.service';

@Module({
  imports: [EventsModule],
  providers: [
    QueueJobsRepository,
    QueueLossesService,
    QueueMonitorService,
    QueuePositionsRepository,
    QueuePublisherService,
  ],
})
export class QueueMonitorModule {}
