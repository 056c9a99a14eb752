import { Module } from '@nestjs/common';
import { FollowersModule } from './followers.module';
import { QueueMonitorModule } from './queue-monitor.module';

/** Where events come from by themselves. */
@Module({ imports: [FollowersModule, QueueMonitorModule] })
export class SourcesModule {}
