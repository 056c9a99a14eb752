import type { Principal } from '../auth/access-token';
import { unauthenticated } from '../auth/bearer/credentials';
import { sleep, type Sleeper } from '../infrastructure/concurrency/pauses.timer';
import { ApiError } from '../infrastructure/errors/api-error';

/** A request that may wait for its answer. */
export interface Poll {
  principal: Principal;
  waitMs: number;
  signal: AbortSignal;
}

/** A waiting request. Set `isDue` or `error`, and wake it. */
export interface Waiting<Request extends Poll> extends Sleeper {
  readonly request: Request;
  /** True when an answer may exist: `take` is called without a sleep. */
  isDue: boolean;
  error: ApiError | null;
}

/** At most `max` requests with the same key wait; null limits all together. */
type Limit<Request> = readonly [max: number, keyOf: ((request: Request) => string) | null];

/** Requests of one kind that wait, each for a limited time and as long as its token is valid. */
export class LongPolls<Request extends Poll> {
  private readonly waiting = new Set<Waiting<Request>>();
  private stopped = false;

  /** @param message of the error when a limit is reached */
  constructor(
    private readonly now: () => Date,
    private readonly limits: readonly Limit<Request>[],
    private readonly message: string,
  ) {}

  get all(): Waiting<Request>[] {
    return [...this.waiting];
  }

  get isStopped(): boolean {
    return this.stopped;
  }

  /** Ends all waiting requests with what there is, and lets no further one wait. */
  stop(): void {
    this.stopped = true;
    for (const each of this.waiting) each.wake();
  }

  /**
   * Calls `take` at once and after each wake, until it returns an answer. It must return one when the wait is over: after `waitMs`,
   * when the client has disconnected, or when the process stops.
   * @throws ApiError 429 when a limit is reached, 401 when the token expires or is revoked, and what `error` is set to
   */
  async wait<Answer>(
    request: Request,
    take: (waiting: Waiting<Request>, isOver: boolean) => Promise<Answer | null>,
  ): Promise<Answer> {
    this.requirePlace(request);
    const waiting: Waiting<Request> = { request, isDue: false, error: null, wake: () => undefined };
    const { signal, principal } = request;
    const until = performance.now() + request.waitMs;
    this.waiting.add(waiting);
    try {
      for (;;) {
        const answer = await take(waiting, performance.now() >= until || this.stopped || signal.aborted);
        if (answer !== null) return answer;
        // A wake during `take` has no effect.
        if (this.stopped || signal.aborted) continue;
        const { expiresAt } = principal;
        const liveMs = expiresAt ? expiresAt.getTime() - this.now().getTime() : Infinity;
        if (!waiting.isDue && !waiting.error) await sleep(Math.min(until - performance.now(), liveMs), waiting, signal);
        if (waiting.error) throw waiting.error;
        if (expiresAt && expiresAt <= this.now()) throw unauthenticated();
      }
    } finally {
      this.waiting.delete(waiting);
    }
  }

  private requirePlace(request: Request): void {
    const isFull = this.limits.some(([max, keyOf]) => {
      const alike = keyOf
        ? this.all.filter((each) => keyOf(each.request) === keyOf(request)).length
        : this.waiting.size;
      return alike >= max;
    });
    if (isFull) throw new ApiError('rate_limited', this.message, { headers: { 'retry-after': '1' } });
  }
}

export const tokensOf = (all: readonly Waiting<Poll>[]): string[] => [
  ...new Set(all.flatMap(({ request }) => request.principal.tokenId ?? [])),
];

/** Sets the error of requests whose token is not among the valid ones. */
export function endRevoked(all: readonly Waiting<Poll>[], liveTokens: readonly string[]): void {
  const live = new Set(liveTokens);
  for (const each of all) {
    const { tokenId } = each.request.principal;
    if (tokenId !== null && !live.has(tokenId)) each.error = unauthenticated();
  }
}
