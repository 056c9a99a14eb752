import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Principal } from '../../auth/access-token';
import { unauthenticated } from '../../auth/bearer/credentials';
import { ClockService } from '../../infrastructure/database/clock.service';
import { ApiError, invalidCursor } from '../../infrastructure/errors/api-error';
import { MESSAGES } from '../../infrastructure/errors/messages';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { KeyedMutex } from '../../infrastructure/concurrency/keyed-mutex';
import { sleep, type Sleeper } from '../../infrastructure/concurrency/sleep.timer';
import { type Change, ChangeFeed, type Changes, firstOf, type Look } from './change-feed';
import type { ChangePosition } from './change-position';
import { ChangesRepository } from './changes.repository';

const LOOK_EVERY_MS = 1000;
/** Waking 200 requests takes half a second. */
const WAKE_EVERY_MS = 2.5;
/** A feed older than this is stale; query the database instead. */
const STALE_MS = 1500;
const MAX_WAITING = 200;
const MAX_WAITING_OF_USER = 5;

/** A request for changes, and how long it may wait. */
export interface ChangeRequest {
  principal: Principal;
  /** Null for changes from now on. */
  after: ChangePosition | null;
  limit: number;
  waitMs: number;
  isWanted: (change: Change) => boolean;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

/** A waiting request. */
interface Waiting extends Sleeper {
  tokenId: string | null;
  /** Set when the wait ends early: the token was revoked or has expired, or the position is no longer valid. */
  error: ApiError | null;
}

/** The feed of a user who has waiting requests, or had some a moment ago. */
interface Followed {
  feed: ChangeFeed | null;
  /** Resolves when the feed is available. */
  ready: Promise<ChangeFeed>;
  waiting: Set<Waiting>;
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
  private waiting = 0;
  private stopped = false;
  private readonly looking = new Repeat(() => this.look(), {
    everyMs: LOOK_EVERY_MS,
    onFailure: logFirst(this.logger, 'Querying changes'),
  });

  constructor(
    private readonly repository: ChangesRepository,
    private readonly clock: ClockService,
  ) {}

  onApplicationBootstrap(): void {
    this.looking.start();
  }

  /** Ends all waiting requests and lets no further request wait. */
  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    for (const { waiting } of this.followed.values()) for (const each of waiting) each.wake();
    await this.looking.stop();
  }

  /**
   * Returns the matching changes after a position: at once if there are any, otherwise as soon as there are, or none when the
   * time is over.
   * @throws ApiError 429 when five requests of the user wait, or 200 in this process; 401 when the token expires or is revoked;
   *   400 for a position from another history of the database
   */
  async read(request: ChangeRequest): Promise<Changes> {
    const { userId, tokenId } = request.principal;
    if (request.waitMs === 0 || this.stopped) return this.readAlone(request);
    const waiting: Waiting = { tokenId, error: null, wake: () => undefined };
    if (this.waiting >= MAX_WAITING || (this.followed.get(userId)?.waiting.size ?? 0) >= MAX_WAITING_OF_USER) {
      throw new ApiError('rate_limited', MESSAGES.tooManyWaiting, { headers: { 'retry-after': '1' } });
    }
    const followed = this.follow(request);
    this.waiting += 1;
    followed.waiting.add(waiting);
    try {
      return await this.wait(request, await followed.ready, waiting);
    } catch (error) {
      if (!followed.feed) this.followed.delete(userId);
      throw error;
    } finally {
      this.waiting -= 1;
      followed.waiting.delete(waiting);
    }
  }

  /** Returns the changes so far, without waiting. */
  private async readAlone({ principal: { userId }, after, limit, isWanted }: ChangeRequest): Promise<Changes> {
    if (!after) return { changes: [], next: await this.repository.now() };
    const { changes, to } = await this.lookAlone(userId, after);
    return firstOf(changes, to, limit, isWanted);
  }

  /** Returns the matching changes after a position, and waits as long as there are none. */
  private async wait(
    { principal, after, limit, waitMs, isWanted, signal }: ChangeRequest,
    feed: ChangeFeed,
    waiting: Waiting,
  ): Promise<Changes> {
    const { userId, expiresAt } = principal;
    const waitsUntil = performance.now() + waitMs;
    let position = after ?? feed.end;
    for (;;) {
      const { changes, to, goOnFrom } = await this.behind(feed, userId, position);
      const answer = firstOf(changes, to, limit, isWanted);
      const leftMs = waitsUntil - performance.now();
      if (answer.changes.length > 0 || leftMs <= 0 || this.stopped || signal.aborted) return answer;
      position = goOnFrom;
      if (feed.end === goOnFrom) {
        const liveMs = expiresAt ? expiresAt.getTime() - this.clock.now().getTime() : Infinity;
        await sleep(Math.min(leftMs, liveMs), waiting, signal);
      }
      if (waiting.error) throw waiting.error;
      if (expiresAt && expiresAt <= this.clock.now()) throw unauthenticated();
    }
  }

  /**
   * Returns the changes after a position. The feed does not keep the result of a separate query: the request then continues from
   * where the feed was before that query, so that it misses nothing.
   */
  private async behind(feed: ChangeFeed, userId: string, position: ChangePosition): Promise<Behind> {
    const remembered = feed.ageMs(performance.now()) < STALE_MS ? feed.after(position) : null;
    if (remembered) return { changes: remembered, to: feed.end, goOnFrom: feed.end };
    const { end } = feed;
    const look = await this.lookAlone(userId, position);
    return { ...look, goOnFrom: look.to.upTo ? look.to : end };
  }

  private follow({ principal: { userId }, after }: ChangeRequest): Followed {
    const known = this.followed.get(userId);
    if (known) return known;
    const followed: Followed = { feed: null, ready: this.begin(userId, after), waiting: new Set() };
    followed.ready.then(
      (feed) => (followed.feed = feed),
      () => undefined,
    );
    this.followed.set(userId, followed);
    return followed;
  }

  /**
   * Creates a feed that starts with the changes after a position, unless there are so many that other requests would have to wait
   * for them.
   */
  private async begin(userId: string, after: ChangePosition | null): Promise<ChangeFeed> {
    if (!after) return new ChangeFeed(await this.repository.now(), performance.now());
    const look = await this.lookAlone(userId, after);
    if (look.to.upTo) return new ChangeFeed({ ...look.to, base: look.to.upTo.target, upTo: null }, performance.now());
    const feed = new ChangeFeed(after, performance.now());
    feed.append(look, performance.now());
    return feed;
  }

  private async lookAlone(userId: string, from: ChangePosition): Promise<Look> {
    const end = await this.mutex.acquire(userId);
    try {
      const { looks } = await this.repository.look([{ userId, from }], []);
      if (!looks[0]) throw unknownPosition();
      return looks[0];
    } finally {
      end();
    }
  }

  /** One query serves all waiting requests; none runs when no request waits. */
  private async look(): Promise<void> {
    for (const [userId, { feed, waiting }] of this.followed) {
      if (feed && waiting.size === 0 && feed.ageMs(performance.now()) > STALE_MS) this.followed.delete(userId);
    }
    const asked = [...this.followed].flatMap(([userId, { feed, waiting }]) =>
      feed && waiting.size > 0 ? [{ userId, feed, from: feed.end, waiting: [...waiting] }] : [],
    );
    if (asked.length === 0) return;
    const tokenIds = new Set(asked.flatMap(({ waiting }) => waiting.flatMap(({ tokenId }) => tokenId ?? [])));
    const { looks, liveTokens } = await this.repository.look(asked, [...tokenIds]);
    const live = new Set(liveTokens);
    asked.forEach(({ userId, feed, waiting }, i) => {
      const look = looks[i];
      if (look) feed.append(look, performance.now());
      else this.followed.delete(userId);
      for (const each of waiting) {
        if (!look) each.error = unknownPosition();
        else if (each.tokenId !== null && !live.has(each.tokenId)) each.error = unauthenticated();
      }
    });
    this.wakeInTurn(asked.map(({ waiting }) => waiting));
  }

  /**
   * Wakes one user after the other: responses to all at the same moment would delay the senders. Wakes the requests of a user
   * together, so that their next requests share a query. When the process is busy, the others wait longer.
   */
  private wakeInTurn([first, ...others]: readonly (readonly Waiting[])[]): void {
    if (!first) return;
    for (const each of first) each.wake();
    setTimeout(() => this.wakeInTurn(others), first.length * WAKE_EVERY_MS).unref();
  }
}

const unknownPosition = (): ApiError => invalidCursor('changedAfter', MESSAGES.badChangeCursor);

interface Behind {
  changes: Change[];
  /** The position where the result ends. */
  to: ChangePosition;
  /** The position to continue from. */
  goOnFrom: ChangePosition;
}
