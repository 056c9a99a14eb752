import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { Principal } from '../../auth/access-token';
import { unauthenticated } from '../../auth/bearer/credentials';
import { sleep, type Sleeper } from '../../infrastructure/concurrency/sleep.timer';
import { ClockService } from '../../infrastructure/database/clock.service';
import { ApiError } from '../../infrastructure/errors/api-error';
import { MESSAGES } from '../../infrastructure/errors/messages';
import { LeasesRepository } from './leases.repository';

const LOOK_EVERY_MS = 250;
const MOST = { webhook: 10, user: 20, process: 200 };

/** A request of a consumer that waits for deliveries. */
export interface WaitRequest {
  principal: Principal;
  webhookId: string;
  waitMs: number;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

interface Waiting extends WaitRequest, Sleeper {
  /** True when `take` has something to return, or a reason to throw. */
  isDue: boolean;
  /** True when its token was revoked. */
  isRevoked: boolean;
}

/**
 * Lets requests of consumers wait for deliveries. While requests wait, this process asks PostgreSQL four times a second which of
 * their webhooks have any.
 */
@Injectable()
export class ConsumersService implements OnModuleDestroy {
  private readonly logger = new Logger(ConsumersService.name);
  private readonly waiting = new Set<Waiting>();
  private looking: Promise<void> = Promise.resolve();
  private isLooking = false;
  private stopped = false;

  constructor(
    private readonly leases: LeasesRepository,
    private readonly clock: ClockService,
  ) {}

  /** Ends all waiting requests, without deliveries, and lets no further request wait. */
  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    for (const each of this.waiting) each.wake();
    await this.looking;
  }

  /**
   * Waits until `take` returns something; none when the time is over, the client has disconnected or the process stops.
   * @throws ApiError 429 when ten requests of the webhook, 20 of the user or 200 of this process wait; 401 when the token expires
   *   or is revoked
   */
  async wait<Taken>(request: WaitRequest, take: () => Promise<Taken[]>): Promise<Taken[]> {
    this.requirePlace(request);
    const waiting: Waiting = { ...request, isDue: false, isRevoked: false, wake: () => undefined };
    this.waiting.add(waiting);
    if (!this.isLooking) this.looking = this.look();
    try {
      return await this.waitFor(waiting, take);
    } finally {
      this.waiting.delete(waiting);
    }
  }

  private async waitFor<Taken>(waiting: Waiting, take: () => Promise<Taken[]>): Promise<Taken[]> {
    const { principal, signal, waitMs } = waiting;
    const waitsUntil = performance.now() + waitMs;
    for (;;) {
      const leftMs = waitsUntil - performance.now();
      if (leftMs <= 0 || this.stopped || signal.aborted) return [];
      const { expiresAt } = principal;
      const liveMs = expiresAt ? expiresAt.getTime() - this.clock.now().getTime() : Infinity;
      if (!waiting.isDue) await sleep(Math.min(leftMs, liveMs), waiting, signal);
      if (waiting.isRevoked || (expiresAt && expiresAt <= this.clock.now())) throw unauthenticated();
      if (!waiting.isDue || this.stopped || signal.aborted) continue;
      waiting.isDue = false;
      const taken = await take();
      if (taken.length > 0) return taken;
    }
  }

  private requirePlace({ principal: { userId }, webhookId }: WaitRequest): void {
    const all = [...this.waiting];
    const [ofUser, ofWebhook] = [
      all.filter(({ principal }) => principal.userId === userId),
      all.filter((each) => each.webhookId === webhookId),
    ];
    if (all.length >= MOST.process || ofUser.length >= MOST.user || ofWebhook.length >= MOST.webhook)
      throw new ApiError('rate_limited', MESSAGES.tooManyConsumers, { headers: { 'retry-after': '1' } });
  }

  /** One statement serves all waiting requests; none runs when no request waits. */
  private async look(): Promise<void> {
    this.isLooking = true;
    while (this.waiting.size > 0 && !this.stopped) {
      await pause(LOOK_EVERY_MS);
      const all = [...this.waiting];
      try {
        const { dueWebhooks, liveTokens } = await this.leases.waitedFor(
          [...new Set(all.map(({ webhookId }) => webhookId))],
          [...new Set(all.flatMap(({ principal: { tokenId } }) => tokenId ?? []))],
        );
        for (const each of all) {
          const { tokenId } = each.principal;
          each.isRevoked = tokenId !== null && !liveTokens.includes(tokenId);
          each.isDue = dueWebhooks.includes(each.webhookId);
          if (each.isRevoked || each.isDue) each.wake();
        }
      } catch (error) {
        this.logger.debug(`Looking for deliveries that consumers wait for failed; retrying: ${String(error)}`);
      }
    }
    // In the same turn as the check: a request that comes later begins another look.
    this.isLooking = false;
  }
}
