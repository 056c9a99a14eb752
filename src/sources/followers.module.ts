import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DestinationsModule } from '../destinations/destinations.module';
import { EventsModule } from '../events/events.module';
import { Account } from './account.entity';
import { AccountsController } from './accounts.controller';
import { AccountsService } from './accounts.service';
import { BLUESKY_ORIGIN, BlueskyProvider } from './bluesky-provider.client';
import { FollowerChangesService } from './follower-changes.service';
import { FollowerReadingsRepository } from './follower-readings.repository';
import { FollowerReadingsService } from './follower-readings.service';
import { FollowersTimerService } from './followers-timer.service';
import { FollowersRepository } from './followers.repository';
import { MastodonProvider } from './mastodon-provider.client';

/** Connected social accounts and the changes of their followers. */
@Module({
  imports: [TypeOrmModule.forFeature([Account]), DestinationsModule, EventsModule],
  controllers: [AccountsController],
  providers: [
    { provide: BLUESKY_ORIGIN, useValue: 'https://public.api.bsky.app' },
    AccountsService,
    BlueskyProvider,
    FollowerChangesService,
    FollowerReadingsRepository,
    FollowerReadingsService,
    FollowersRepository,
    FollowersTimerService,
    MastodonProvider,
  ],
})
export class FollowersModule {}
