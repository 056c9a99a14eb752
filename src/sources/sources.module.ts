import { Module } from '@nestjs/common';
import { FollowersModule } from './followers/followers.module';
import { QueueMonitorModule } from './job-queues/queue-monitor.module';

/** Modules that produce events themselves: followers of social accounts, and job queues. */
@Module({ imports: [FollowersModule, QueueMonitorModule] })
export class SourcesModule {}
