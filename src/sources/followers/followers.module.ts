import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../../auth/auth.module';
import { DestinationsModule } from '../../infrastructure/destinations/destinations.module';
import { EventsModule } from '../../events/events.module';
import { Account } from './account.entity';
import { AccountsController } from './accounts/accounts.controller';
import { AccountsService } from './accounts/accounts.service';
import { BLUESKY_ORIGIN, BlueskyProvider } from './providers/bluesky-provider.client';
import { FollowerChangesService } from './readings/follower-changes.service';
import { FollowerReadingsRepository } from './readings/follower-readings.repository';
import { FollowerReadingsService, FollowersTimerService } from './readings/follower-readings.service';
import { FollowersRepository } from './readings/followers.repository';
import { MastodonProvider } from './providers/mastodon-provider.client';

@Module({
  imports: [TypeOrmModule.forFeature([Account]), AuthModule, DestinationsModule, EventsModule],
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
