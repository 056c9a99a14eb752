import { Module } from '@nestjs/common';
import { FollowersModule } from './followers/followers.module';
import { QueueMonitorModule } from './job-queues/queue-monitor.module';

/** Where events come from by themselves. */
@Module({ imports: [FollowersModule, QueueMonitorModule] })
export class SourcesModule {}
