import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Principal } from '../../auth/access-token';
import { unauthenticated } from '../../auth/bearer/credentials';
import { ClockService } from '../../plumbing/database/clock.service';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { Repeat } from '../../plumbing/timers/repeat.timer';
import { Turns } from '../../plumbing/database/turns';
import { type Change, ChangeFeed, type Changes, firstOf, type Look } from './change-feed';
import type { ChangePosition } from './change-position';
import { ChangesRepository } from './changes.repository';

const LOOK_EVERY_MS = 1000;
/** 200 of them take half a second. */
const WAKE_EVERY_MS = 2.5;
const REMEMBERED_MS = 10_000;
/** A feed that was not brought up to date for so long is asked for no more. */
const STALE_MS = 1500;
const MAX_WAITING = 200;
const MAX_WAITING_OF_USER = 5;

/** Who waits for changes, and until when. */
export interface ChangeRequest {
  principal: Principal;
  /** Null: from now on. */
  after: ChangePosition | null;
  limit: number;
  waitMs: number;
  isWanted: (change: Change) => boolean;
  /** Aborted when the client has gone. */
  signal: AbortSignal;
}

/** A request that waits. */
interface Waiting {
  tokenId: string | null;
  /** Set when it ends early: its token was revoked or has expired, or its position is of no use any more. */
  error: ApiError | null;
  /** Lets it look at its feed again. */
  wake: () => void;
}

/** The feed of a user for whom requests wait, or did a moment ago. */
interface Followed {
  feed: ChangeFeed | null;
  /** Resolves when there is a feed. */
  ready: Promise<ChangeFeed>;
  waiting: Set<Waiting>;
}

/**
 * Lets requests wait for changes of deliveries. While any of them waits, this process asks PostgreSQL once a second for the
 * changes of all users for whom one waits; a request that goes on from a position which is not remembered asks by itself.
 */
@Injectable()
export class ChangesService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Changes');
  private readonly followed = new Map<string, Followed>();
  /** Of the requests of a user that ask by themselves, one at a time does. */
  private readonly turns = new Turns(1);
  private waiting = 0;
  private stopped = false;
  private readonly looking = new Repeat(() => this.look(), {
    everyMs: LOOK_EVERY_MS,
    onFailure: (error, isRepeated) => {
      if (!isRepeated) this.logger.warn(`Looking for changes fails, and is tried again: ${String(error)}`);
    },
  });

  constructor(
    private readonly repository: ChangesRepository,
    private readonly clock: ClockService,
  ) {}

  onApplicationBootstrap(): void {
    this.looking.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  /** Answers all who wait, and lets nobody wait any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const { waiting } of this.followed.values()) for (const each of waiting) each.wake();
    await this.looking.stop();
  }

  /**
   * The wanted changes behind a position: at once when there are some, otherwise as soon as there are, or none when the
   * time is over.
   * @throws ApiError 429 when five requests of the user wait, or 200 in this process; 401 when the token ends; 400 for a
   *   position of another history of the database
   */
  async read(request: ChangeRequest): Promise<Changes> {
    const { userId, tokenId } = request.principal;
    if (request.waitMs === 0 || this.stopped) return this.readAlone(request);
    const waiting: Waiting = { tokenId, error: null, wake: () => undefined };
    if (this.waiting >= MAX_WAITING || (this.followed.get(userId)?.waiting.size ?? 0) >= MAX_WAITING_OF_USER) {
      throw new ApiError(429, MESSAGES.tooManyWaiting, { 'retry-after': '1' });
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

  /** What there is at this moment. */
  private async readAlone({ principal: { userId }, after, limit, isWanted }: ChangeRequest): Promise<Changes> {
    if (!after) return { changes: [], next: await this.repository.now() };
    const { changes, to } = await this.lookAlone(userId, after);
    return firstOf(changes, to, limit, isWanted);
  }

  /** Takes the wanted ones of the changes behind a position, and waits for more as long as there are none. */
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
        await pause(Math.min(leftMs, liveMs), waiting, signal);
      }
      if (waiting.error) throw waiting.error;
      if (expiresAt && expiresAt <= this.clock.now()) throw unauthenticated();
    }
  }

  /**
   * The changes behind a position. What is found by a question of its own is not remembered: after it the request goes on
   * from where the feed was before the question, so that it misses nothing.
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

  /** A feed that begins with what is behind a position, unless that is so much that others would wait for it. */
  private async begin(userId: string, after: ChangePosition | null): Promise<ChangeFeed> {
    if (!after) return new ChangeFeed(await this.repository.now(), performance.now());
    const look = await this.lookAlone(userId, after);
    if (look.to.upTo) return new ChangeFeed({ base: look.to.upTo.target, upTo: null }, performance.now());
    const feed = new ChangeFeed(after, performance.now());
    feed.append(look, performance.now(), REMEMBERED_MS);
    return feed;
  }

  private async lookAlone(userId: string, from: ChangePosition): Promise<Look> {
    const end = await this.turns.take(userId);
    try {
      const { looks } = await this.repository.look([{ userId, from }], []);
      if (!looks[0]) throw unknownPosition();
      return looks[0];
    } finally {
      end();
    }
  }

  /** One question for all who wait. Asks nothing when nobody does. */
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
      if (look) feed.append(look, performance.now(), REMEMBERED_MS);
      else this.followed.delete(userId);
      for (const each of waiting) {
        if (!look) each.error = unknownPosition();
        else if (each.tokenId !== null && !live.has(each.tokenId)) each.error = unauthenticated();
      }
    });
    this.wakeInTurn(asked.map(({ waiting }) => waiting));
  }

  /**
   * One user after the other: answers to all at the same moment would hold up the senders. Those of a user together, so
   * that their next requests are looked up together. When the process is busy, the others wait for longer.
   */
  private wakeInTurn([first, ...others]: readonly (readonly Waiting[])[]): void {
    if (!first) return;
    for (const each of first) each.wake();
    setTimeout(() => this.wakeInTurn(others), first.length * WAKE_EVERY_MS).unref();
  }
}

const unknownPosition = (): ApiError => new ApiError(400, MESSAGES.badChangeCursor);

interface Behind {
  changes: Change[];
  /** Where the answer ends. */
  to: ChangePosition;
  /** Where to look for more. */
  goOnFrom: ChangePosition;
}

/** Resolves after `ms`, when the request is woken, or when its client has gone. */
function pause(ms: number, waiting: Waiting, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    waiting.wake = end;
    signal.addEventListener('abort', end);
  });
}
