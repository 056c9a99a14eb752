import { Module } from '@nestjs/common';
import { FollowersModule } from './followers/followers.module';
import { QueueMonitorModule } from './job-queues/queue-monitor.module';

@Module({ imports: [FollowersModule, QueueMonitorModule] })
export class SourcesModule {}
