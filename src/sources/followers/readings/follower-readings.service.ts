import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ApiError } from '../../../infrastructure/errors/api-error';
import type { Account } from '../account.entity';
import { BlueskyProvider } from '../providers/bluesky-provider.client';
import { FollowerChangesService } from './follower-changes.service';
import { type FollowerProvider, ReadingAbandoned, ReadingFailure } from '../follower';
import { FollowerReadingsRepository, type Reading } from './follower-readings.repository';
import { type Difference, FollowersRepository } from './followers.repository';
import { MastodonProvider } from '../providers/mastodon-provider.client';
import { logFirst, Repeat } from '../../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../../infrastructure/queue/worker-tasks.service';

const MAX_PAGES = 3200;
const MAX_FOLLOWERS = 250_000;
const WITHIN_MS = 1_800_000;

/** Reads the followers of due accounts. A list takes effect only if it was read completely. */
@Injectable()
export class FollowerReadingsService {
  private readonly logger = new Logger(FollowerReadingsService.name);
  private readonly providers: Readonly<Partial<Record<Account['provider'], FollowerProvider>>>;

  constructor(
    private readonly readings: FollowerReadingsRepository,
    private readonly followers: FollowersRepository,
    private readonly changes: FollowerChangesService,
    mastodon: MastodonProvider,
    bluesky: BlueskyProvider,
  ) {
    this.providers = { mastodon, bluesky };
  }

  /**
   * Claims up to `limit` due accounts of users with fewer than `perUser` held. The caller must `read` each of them immediately.
   */
  claim(limit: number, perUser?: number): Promise<Reading[]> {
    return this.readings.claim(limit, perUser);
  }

  /** Reads an account and stores its list. Never throws: the owner sees the failure, or the reading is retried. */
  async read(reading: Reading, stop?: AbortSignal): Promise<void> {
    try {
      await this.stageAll(reading, stop);
      await this.readings.finish(reading, (manager, account) => this.settle(manager, account, reading.readingId));
    } catch (error) {
      await this.giveUp(reading, error, stop).catch((again: unknown) => this.warn(again));
    }
  }

  private async stageAll(reading: Reading, stop?: AbortSignal): Promise<void> {
    await this.readings.begin(reading);
    const endsAt = performance.now() + WITHIN_MS;
    let [pages, followers] = [0, 0];
    for await (const page of this.providers[reading.provider]?.pages(reading.handle) ?? []) {
      stop?.throwIfAborted();
      pages += 1;
      followers += page.length;
      if (pages > MAX_PAGES || followers > MAX_FOLLOWERS)
        throw new ReadingFailure(`The account has more than the ${MAX_FOLLOWERS} followers that can be read.`);
      if (performance.now() > endsAt) throw new ReadingFailure('The list of followers took too long to be read.');
      await this.readings.stage(reading, page);
    }
  }

  private async settle(manager: EntityManager, account: Account, readingId: string): Promise<void> {
    const difference = await this.followers.compare(manager, account.id, readingId);
    const suspicion = account.lastReadAt === null ? null : suspicionOf(difference);
    if (suspicion === null || suspicion === account.suspicion) {
      await this.changes.takeIn(manager, account, readingId, difference);
    } else {
      await this.readings.suspect(manager, account.id, suspicion);
    }
  }

  private async giveUp(reading: Reading, error: unknown, stop?: AbortSignal): Promise<void> {
    if (error instanceof ReadingAbandoned) return;
    if (stop?.aborted) return this.readings.release(reading);
    if (error instanceof ReadingFailure) return this.readings.fail(reading, error.message, error.waitMs);
    if (error instanceof ApiError) return this.readings.fail(reading, error.message, 0);
    // The account stays held until its hold expires, and is then due again.
    this.warn(error);
  }

  private warn(error: unknown): void {
    this.logger.warn(`Reading followers failed; retrying within minutes: ${String(error)}`);
  }
}

const POLL_INTERVAL_MS = 1000;
const MAX_READINGS = 24;
/** Readings reserved for users without a running one, so that slow servers of other users do not delay them. */
const KEPT = MAX_READINGS / 2;

@Injectable()
export class FollowersTimerService implements OnModuleDestroy {
  private readonly logger = new Logger(FollowersTimerService.name);
  private readonly stopping = new AbortController();
  private readonly underway = new Set<Promise<void>>();

  constructor(
    private readonly readings: FollowerReadingsService,
    rows: FollowerReadingsRepository,
    tasks: WorkerTasksService,
  ) {
    tasks.add(
      new Repeat(async () => ((await rows.deletePage()) ? 0 : undefined), {
        everyMs: POLL_INTERVAL_MS,
        onFailure: logFirst(this.logger, 'Deleting disconnected accounts'),
      }),
    );
    tasks.add(
      new Repeat(() => this.poll(), {
        everyMs: POLL_INTERVAL_MS,
        onFailure: logFirst(this.logger, 'Polling accounts'),
      }),
    );
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  private async poll(): Promise<void> {
    const free = MAX_READINGS - this.underway.size;
    if (free <= 0) return;
    const claimed = await (free > KEPT ? this.readings.claim(free - KEPT) : this.readings.claim(free, 1));
    for (const reading of claimed) {
      const end = this.readings.read(reading, this.stopping.signal).finally(() => this.underway.delete(end));
      this.underway.add(end);
    }
  }
}

const MANY = 10_000;

/**
 * Returns why a reading is too doubtful to take effect at once: the account would gain or lose more than 10,000
 * followers, or lose all. Null if there is no doubt. The next reading confirms it by returning the same text.
 */
export function suspicionOf({ gained, lost, known, staged }: Difference): string | null {
  const suspicions = [
    ...(gained > MANY ? [`gained more than ${MANY}`] : []),
    ...(known > 0 && staged === 0 ? ['lost all'] : lost > MANY ? [`lost more than ${MANY}`] : []),
  ];
  return suspicions.length > 0 ? suspicions.join(' and ') : null;
}
