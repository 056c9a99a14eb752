import { Logger } from '@nestjs/common';
import { createClient, type WebhookServiceClient } from '../client/create-client';
import { WebhookServiceError } from '../client/service-error';
import type { OutboxStatements } from './outbox-statements';
import { rowsOf, type Transaction } from './transaction';

/** Where the service is, and as whom the application publishes. */
export interface ServicePlace {
  url: string;
  /** An access token, or what reads the present one: it is asked before each use, so a token can be replaced. */
  token: string | (() => string | Promise<string>);
}

interface WaitingEvent {
  position: string;
  event: string;
  userId: string | null;
  /** JSON text. */
  data: string;
  idempotencyKey: string;
}

const LOOK_EVERY_MS = 1000;
const MOST_PAUSE_MS = 5000;
const SAY_EVERY_MS = 60_000;
const MOST_SENTENCES = 100;
/** Shorter than events are claimed for, so that nobody else relays them meanwhile. */
const TIMEOUT_MS = 20_000;
const POSTPONED_SECONDS = 60;
const REFUSED = [400, 409, 413];

/** Sends what waits in the outbox to the service, oldest first. Any number of processes may do that on one outbox. */
export class OutboxRelay {
  private readonly logger = new Logger('WebhookNotification');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private isRunning = false;
  private isStopped = true;
  private pauseMs = 0;
  private readonly saidAt = new Map<string, number>();
  private client: { token: string; client: WebhookServiceClient } | undefined;

  constructor(
    private readonly connection: Transaction,
    private readonly statements: OutboxStatements,
    private readonly place: ServicePlace,
    /** Types of this application that the service may not know yet: their events wait for that. */
    private readonly undeclared: ReadonlySet<string>,
  ) {}

  start(): void {
    this.isStopped = false;
    this.wake();
  }

  /** Resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Looks at once, unless it is looking already, or pauses because the service does not answer. */
  wake(): void {
    if (this.isStopped || this.isRunning || this.pauseMs > 0) return;
    this.run();
  }

  /** The client with the present token. */
  async service(): Promise<WebhookServiceClient> {
    const token = typeof this.place.token === 'string' ? this.place.token : await this.place.token();
    if (this.client?.token !== token) this.client = { token, client: this.clientFor(token) };
    return this.client.client;
  }

  private clientFor(token: string): WebhookServiceClient {
    // The relay itself tries again.
    return createClient({ url: this.place.url, token, maxRetries: 0, timeoutMs: TIMEOUT_MS });
  }

  private run(): void {
    clearTimeout(this.timer);
    this.isRunning = true;
    this.running = this.relayAll()
      .then(
        () => {
          this.pauseMs = 0;
        },
        (error: unknown) => {
          this.pauseMs = Math.min(Math.max(this.pauseMs * 2, LOOK_EVERY_MS), MOST_PAUSE_MS);
          this.say(`Events wait in the outbox: ${messageOf(error)}`);
        },
      )
      .then(() => {
        this.isRunning = false;
        if (!this.isStopped) this.timer = setTimeout(() => this.run(), this.pauseMs || LOOK_EVERY_MS).unref();
      });
  }

  private async relayAll(): Promise<void> {
    while (!this.isStopped) {
      const events = await rowsOf<WaitingEvent>(this.connection, this.statements.claim);
      if (events.length === 0) return;
      await this.relay(events);
    }
  }

  private async relay(events: readonly WaitingEvent[]): Promise<void> {
    try {
      await this.send(events);
    } catch (error) {
      const status = error instanceof WebhookServiceError ? error.status : null;
      const isAlone = events.length === 1;
      if (status === 403 || (status === 400 && isAlone && this.undeclared.has(events[0]?.event ?? ''))) {
        return this.postpone(events, error);
      }
      if (status === null || !REFUSED.includes(status)) {
        await this.release(events, 0);
        throw error;
      }
      // A batch is all or nothing: alone, each gets its own answer.
      if (isAlone) return this.refuse(events[0] as WaitingEvent, error);
      for (const event of events) await this.relay([event]);
    }
  }

  private async send(events: readonly WaitingEvent[]): Promise<void> {
    const service = await this.service();
    await service.events.publishBatch(
      events.map(({ event, data, userId, idempotencyKey }) => ({
        ...{ event, userId, idempotencyKey },
        data: JSON.parse(data) as object,
      })),
    );
    const positions = JSON.stringify(events.map(({ position }) => position));
    await rowsOf(this.connection, this.statements.remove, positions);
  }

  /** Lets them wait: what they lack can be made good. */
  private async postpone(events: readonly WaitingEvent[], error: unknown): Promise<void> {
    if (events.length > 1) {
      for (const event of events) await this.relay([event]);
      return;
    }
    this.say(`Events wait in the outbox, for another token or for their type: ${messageOf(error)}`);
    await this.release(events, POSTPONED_SECONDS);
  }

  private async refuse({ event, position }: WaitingEvent, error: unknown): Promise<void> {
    const sentence = messageOf(error);
    this.logger.error(
      `The service refuses the event ${event} (${position} of the outbox), which is set aside: ${sentence}`,
    );
    await rowsOf(this.connection, this.statements.refuse, position, sentence);
  }

  private async release(events: readonly WaitingEvent[], seconds: number): Promise<void> {
    const positions = JSON.stringify(events.map(({ position }) => position));
    await rowsOf(this.connection, this.statements.release, positions, String(seconds));
  }

  /** Warns, of the same thing once a minute. */
  say(sentence: string): void {
    const now = performance.now();
    if (now - (this.saidAt.get(sentence) ?? -Infinity) < SAY_EVERY_MS) return;
    if (this.saidAt.size > MOST_SENTENCES) this.saidAt.clear();
    this.saidAt.set(sentence, now);
    this.logger.warn(sentence);
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
