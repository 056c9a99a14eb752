import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { ClockService } from '../../infrastructure/database/clock.service';
import { type ApiError, invalidCursor, MESSAGES } from '../../infrastructure/errors/api-error';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { KeyedMutex } from '../../infrastructure/concurrency/keyed-mutex';
import type { Sleeper } from '../../infrastructure/concurrency/pauses.timer';
import { endRevoked, LongPolls, type Poll, tokensOf, type Waiting } from '../long-polls.timer';
import { type Change, ChangeFeed, type Changes, firstOf, type Polled } from './change-feed';
import type { ChangePosition } from './change-position';
import { ChangesRepository } from './changes.repository';

const POLL_INTERVAL_MS = 1000;
/** Waking 200 requests takes half a second. */
const WAKE_EVERY_MS = 2.5;
/** A feed older than this is stale; query the database instead. */
const STALE_MS = 1500;

export interface ChangeRequest extends Poll {
  /** Null for changes from now on. */
  after: ChangePosition | null;
  limit: number;
  isWanted: (change: Change) => boolean;
}

/** The feed of a user who has waiting requests, or had some a moment ago. */
interface Followed {
  feed: ChangeFeed | null;
  ready: Promise<ChangeFeed>;
}

/**
 * Lets requests wait for changes of deliveries. While requests wait, this process queries PostgreSQL once a second for the
 * changes of all their users. A request whose position is no longer in memory runs its own query.
 */
@Injectable()
export class ChangesService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(ChangesService.name);
  private readonly followed = new Map<string, Followed>();
  /** Only one request per user may run its own query at a time. */
  private readonly mutex = new KeyedMutex(1);
  private readonly polls: LongPolls<ChangeRequest>;
  private readonly polling = new Repeat(() => this.poll(), {
    everyMs: POLL_INTERVAL_MS,
    onFailure: logFirst(this.logger, 'Querying changes'),
  });

  constructor(
    private readonly repository: ChangesRepository,
    clock: ClockService,
  ) {
    const limits = [
      [5, ({ principal }: ChangeRequest) => principal.userId],
      [200, null],
    ] as const;
    this.polls = new LongPolls(() => clock.now(), limits, MESSAGES.tooManyWaiting);
  }

  onApplicationBootstrap(): void {
    this.polling.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.polls.stop();
    await this.polling.stop();
  }

  /** Returns the matching changes after a position: at once, as soon as there are any, or none when the time is over. */
  async read(request: ChangeRequest): Promise<Changes> {
    if (request.waitMs === 0 || this.polls.isStopped) return this.readAlone(request);
    const { limit, isWanted, principal } = request;
    let feed: ChangeFeed | null = null;
    let position = request.after;
    return this.polls.wait<Changes>(request, async (waiting, isOver) => {
      feed ??= await this.follow(request);
      const { changes, to, goOnFrom } = await this.behind(feed, principal.userId, position ?? feed.end);
      const answer = firstOf(changes, to, limit, isWanted);
      if (answer.changes.length > 0 || isOver) return answer;
      position = goOnFrom;
      waiting.isDue = feed.end !== goOnFrom;
      return null;
    });
  }

  private async readAlone({ principal: { userId }, after, limit, isWanted }: ChangeRequest): Promise<Changes> {
    if (!after) return { changes: [], next: await this.repository.now() };
    const { changes, to } = await this.pollOne(userId, after);
    return firstOf(changes, to, limit, isWanted);
  }

  /**
   * Returns the changes after a position. The feed does not keep the result of a separate query: the request then continues from
   * where the feed was before that query, so that it misses nothing.
   */
  private async behind(feed: ChangeFeed, userId: string, position: ChangePosition): Promise<Behind> {
    const remembered = feed.ageMs(performance.now()) < STALE_MS ? feed.after(position) : null;
    if (remembered) return { changes: remembered, to: feed.end, goOnFrom: feed.end };
    const { end } = feed;
    const polled = await this.pollOne(userId, position);
    return { ...polled, goOnFrom: polled.to.upTo ? polled.to : end };
  }

  /** Returns the feed of the user; of concurrent requests the first one creates it. */
  private follow({ principal: { userId }, after }: ChangeRequest): Promise<ChangeFeed> {
    const known = this.followed.get(userId);
    if (known) return known.ready;
    const followed: Followed = { feed: null, ready: this.begin(userId, after) };
    this.followed.set(userId, followed);
    followed.ready.then(
      (feed) => (followed.feed = feed),
      () => this.followed.delete(userId),
    );
    return followed.ready;
  }

  /** Creates a feed from a position on; when too many changes follow it, from the end of those. */
  private async begin(userId: string, after: ChangePosition | null): Promise<ChangeFeed> {
    if (!after) return new ChangeFeed(await this.repository.now(), performance.now());
    const polled = await this.pollOne(userId, after);
    if (polled.to.upTo)
      return new ChangeFeed({ ...polled.to, base: polled.to.upTo.target, upTo: null }, performance.now());
    const feed = new ChangeFeed(after, performance.now());
    feed.append(polled, performance.now());
    return feed;
  }

  private async pollOne(userId: string, from: ChangePosition): Promise<Polled> {
    const end = await this.mutex.acquire(userId);
    try {
      const { polled } = await this.repository.poll([{ userId, from }], []);
      if (!polled[0]) throw unknownPosition();
      return polled[0];
    } finally {
      end();
    }
  }

  private async poll(): Promise<void> {
    const byUser = new Map<string, Waiting<ChangeRequest>[]>();
    for (const each of this.polls.all) {
      const { userId } = each.request.principal;
      byUser.set(userId, [...(byUser.get(userId) ?? []), each]);
    }
    for (const [userId, { feed }] of this.followed)
      if (feed && !byUser.has(userId) && feed.ageMs(performance.now()) > STALE_MS) this.followed.delete(userId);
    const asked = [...byUser].flatMap(([userId, waiting]) => {
      const feed = this.followed.get(userId)?.feed;
      return feed ? [{ userId, feed, from: feed.end, waiting }] : [];
    });
    if (asked.length === 0) return;
    const all = asked.flatMap(({ waiting }) => waiting);
    const { polled, liveTokens } = await this.repository.poll(asked, tokensOf(all));
    endRevoked(all, liveTokens);
    asked.forEach(({ userId, feed, waiting }, i) => {
      const own = polled[i];
      if (own) return feed.append(own, performance.now());
      this.followed.delete(userId);
      for (const each of waiting) each.error = unknownPosition();
    });
    this.wakeInTurn(asked.map(({ waiting }) => waiting));
  }

  /**
   * Wakes one user after the other: responses to all at the same moment would delay the senders. Wakes the requests of a user
   * together, so that their next requests share a query. When the process is busy, the others wait longer.
   */
  private wakeInTurn([first, ...others]: readonly (readonly Sleeper[])[]): void {
    if (!first) return;
    for (const each of first) each.wake();
    setTimeout(() => this.wakeInTurn(others), first.length * WAKE_EVERY_MS).unref();
  }
}

const unknownPosition = (): ApiError => invalidCursor('changedAfter', MESSAGES.badChangeCursor);

interface Behind {
  changes: Change[];
  to: ChangePosition;
  goOnFrom: ChangePosition;
}
