import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { ClockService } from '../../infrastructure/database/clock.service';
import { MESSAGES } from '../../infrastructure/errors/api-error';
import { endRevoked, LongPolls, type Poll, tokensOf } from '../long-polls.timer';
import { ConsumerLeasesRepository } from './consumer-leases.repository';

const POLL_INTERVAL_MS = 250;

export interface WaitRequest extends Poll {
  webhookId: string;
}

/** Lets requests of consumers wait for deliveries. One query, four times a second, serves all of them. */
@Injectable()
export class ConsumersService implements OnModuleDestroy {
  private readonly logger = new Logger(ConsumersService.name);
  private readonly polls: LongPolls<WaitRequest>;
  private polling: Promise<void> = Promise.resolve();
  private isPolling = false;

  constructor(
    private readonly leases: ConsumerLeasesRepository,
    clock: ClockService,
  ) {
    const limits = [
      [10, ({ webhookId }: WaitRequest) => webhookId],
      [20, ({ principal }: WaitRequest) => principal.userId],
      [200, null],
    ] as const;
    this.polls = new LongPolls(() => clock.now(), limits, MESSAGES.tooManyConsumers);
  }

  /** Ends all waiting requests, without deliveries, and lets no further request wait. */
  async onModuleDestroy(): Promise<void> {
    this.polls.stop();
    await this.polling;
  }

  /** Stores that a consumer with this access token has asked for deliveries, at most once a second. */
  note(webhookId: string, tokenId: string | null): Promise<void> {
    return this.leases.noteConsumer(webhookId, tokenId);
  }

  /** Waits until `take` returns something; none when the time is over, the client has disconnected or the process stops. */
  wait<Taken>(request: WaitRequest, take: () => Promise<Taken[]>): Promise<Taken[]> {
    const waited = this.polls.wait<Taken[]>(request, async (waiting, isOver) => {
      if (isOver || !waiting.isDue) return isOver ? [] : null;
      waiting.isDue = false;
      const taken = await take();
      return taken.length > 0 ? taken : null;
    });
    if (!this.isPolling) this.polling = this.poll();
    return waited;
  }

  private async poll(): Promise<void> {
    this.isPolling = true;
    while (this.polls.all.length > 0 && !this.polls.isStopped) {
      await pause(POLL_INTERVAL_MS);
      const { all } = this.polls;
      try {
        const webhookIds = [...new Set(all.map(({ request }) => request.webhookId))];
        const { dueWebhooks, liveTokens } = await this.leases.waitedFor(webhookIds, tokensOf(all));
        endRevoked(all, liveTokens);
        for (const each of all) {
          each.isDue ||= dueWebhooks.includes(each.request.webhookId);
          if (each.isDue || each.error) each.wake();
        }
      } catch (error) {
        this.logger.debug(`Querying deliveries that consumers wait for failed; retrying: ${String(error)}`);
      }
    }
    // In the same turn as the check: a request that comes later begins another poll.
    this.isPolling = false;
  }
}
