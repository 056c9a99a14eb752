import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ClockService } from '../../../infrastructure/database/clock.service';
import { RateLimitsService } from '../../../auth/limits/rate-limits.service';
import { EventsService } from '../../../events/events.service';
import { Account } from '../account.entity';
import type { Follower } from '../follower';
import { type Difference, FollowersRepository } from './followers.repository';

export interface FollowersChange {
  followersCount: number;
  gained: number;
  lost: number;
}

const STAGED_AT_ONCE = 5000;

@Injectable()
export class FollowerChangesService {
  constructor(
    private readonly followers: FollowersRepository,
    private readonly events: EventsService,
    private readonly clock: ClockService,
    private readonly limits: RateLimitsService,
  ) {}

  /**
   * Stages a list from memory and makes it the current one. Its changes count as events that the user publishes.
   * @throws ApiError 429 when these are too many within a minute; then nothing is published, and the caller must roll
   *   back
   */
  async replace(
    manager: EntityManager,
    account: Account,
    readingId: string,
    followers: readonly Follower[],
  ): Promise<FollowersChange> {
    for (let i = 0; i < followers.length; i += STAGED_AT_ONCE)
      await this.followers.stage(manager, account.id, readingId, followers.slice(i, i + STAGED_AT_ONCE));
    const difference = await this.followers.compare(manager, account.id, readingId);
    const events = account.lastReadAt === null ? 0 : difference.gained + difference.lost;
    if (events > 0) this.limits.count('publish', account.userId, events);
    return this.takeIn(manager, account, readingId, difference);
  }

  /** Makes the staged list the current one and publishes the differences. An account's first list is only stored. */
  async takeIn(
    manager: EntityManager,
    account: Account,
    readingId: string,
    { gained, lost, staged }: Difference,
  ): Promise<FollowersChange> {
    const isFirst = account.lastReadAt === null;
    const observedAt = this.clock.now();
    if (!isFirst)
      await this.publish(manager, account, readingId, {
        followersCount: staged,
        observedAt: observedAt.toISOString(),
      });
    await this.followers.takeOver(manager, account.id, readingId);
    await this.followers.clear(manager, account.id, readingId);
    await manager.update(
      Account,
      { id: account.id },
      { followersCount: staged, lastReadAt: observedAt, lastError: null, suspicion: null },
    );
    return { followersCount: staged, gained: isFirst ? 0 : gained, lost: isFirst ? 0 : lost };
  }

  private async publish(
    manager: EntityManager,
    { id: accountId, userId }: Account,
    readingId: string,
    after: { followersCount: number; observedAt: string },
  ): Promise<void> {
    const options = { userId, manager };
    const changes = (followers: readonly Follower[]) =>
      followers.map((follower) => ({ accountId, follower, ...after }));
    for await (const page of this.followers.gained(manager, accountId, readingId)) {
      await this.events.publishAll('follower.gained', changes(page), options);
    }
    for await (const page of this.followers.lost(manager, accountId, readingId)) {
      await this.events.publishAll('follower.lost', changes(page), options);
    }
  }
}
