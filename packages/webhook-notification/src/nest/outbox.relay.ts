import { Logger } from '@nestjs/common';
import { inexactPartOf } from '../catalogue/exact-json';
import { createClient, type WebhookServiceClient } from '../client/create-client';
import { WebhookServiceError } from '../client/service-error';
import type { OutboxStatements } from './outbox-statements';
import { rowsOf, type Transaction } from './transaction';
import type { ServicePlace } from './transport';

interface WaitingEvent {
  position: string;
  event: string;
  userId: string | null;
  /** JSON text. */
  data: string;
  idempotencyKey: string;
  subject: string | null;
}

const POLL_INTERVAL_MS = 1000;
const MOST_PAUSE_MS = 5000;
const SAY_EVERY_MS = 60_000;
const MAX_MESSAGES = 100;
/** Shorter than the claim of an event, so that no other process relays it meanwhile. */
const TIMEOUT_MS = 20_000;
const POSTPONED_SECONDS = 60;
/** Maximum wait for running requests when the application ends. Events without a response are relayed again. */
const STOP_WITHIN_MS = 2000;
const REFUSED = [400, 409, 413];
/** When a batch gets one of these statuses, a single event may be the cause. */
const ABOUT_ONE = [...REFUSED, 403];
const NEEDED_SCOPES = ['events:publish', 'events:broadcast', 'event-types:manage'] as const;

/** Sends waiting events of the outbox to the service, oldest first. Any number of processes may relay one outbox. */
export class OutboxRelay {
  private readonly logger = new Logger('WebhookNotification');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private isRunning = false;
  private isStopped = true;
  private pauseMs = 0;
  private readonly stopping = new AbortController();
  private readonly saidAt = new Map<string, number>();
  private token: string | undefined;
  /** The user as whom the token publishes, once known. */
  private userId: string | undefined;
  readonly service: WebhookServiceClient;

  constructor(
    private readonly connection: Transaction,
    private readonly statements: OutboxStatements,
    private readonly place: ServicePlace,
    /** Types of this application that the service may not know yet: their events wait until they are declared. */
    private readonly undeclared: ReadonlySet<string>,
  ) {
    // The relay itself retries.
    this.service = createClient({ ...place, token: () => this.presentToken(), maxRetries: 0, timeoutMs: TIMEOUT_MS });
  }

  start(): void {
    this.isStopped = false;
    this.wake();
  }

  /** Resolves when running requests have ended, or after 2 s without the service's response. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    const late = setTimeout(() => this.stopping.abort(), STOP_WITHIN_MS);
    await this.running;
    clearTimeout(late);
  }

  /** Polls at once, unless it is already polling, or paused because the service is unavailable. */
  wake(): void {
    if (this.isStopped || this.isRunning || this.pauseMs > 0) return;
    this.run();
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
          this.pauseMs = Math.min(Math.max(this.pauseMs * 2, POLL_INTERVAL_MS), MOST_PAUSE_MS);
          this.say(`The outbox is not relayed: ${messageOf(error)}`);
        },
      )
      .then(() => {
        this.isRunning = false;
        if (!this.isStopped) this.timer = setTimeout(() => this.run(), this.pauseMs || POLL_INTERVAL_MS).unref();
      });
  }

  private async presentToken(): Promise<string> {
    const token = typeof this.place.token === 'string' ? this.place.token : await this.place.token();
    if (token !== this.token) this.userId = undefined;
    this.token = token;
    return token;
  }

  /** Returns the user as whom the current token publishes. Warns of missing scopes. */
  private async identify(): Promise<string> {
    if (this.userId !== undefined) return this.userId;
    const { userId, scopes } = await this.service.me({ signal: this.stopping.signal });
    const missing = NEEDED_SCOPES.filter((scope) => !scopes.includes(scope));
    if (missing.length > 0) this.say(`The token lacks ${missing.join(' and ')}: what needs that waits in the outbox.`);
    const before = await rowsOf<{ userId: string }>(this.connection, this.statements.relayedAs);
    for (const other of before.filter((row) => row.userId !== userId)) {
      this.say(
        `The token publishes as ${userId}, and events that wait were relayed as ${other.userId}: what the service had accepted ` +
          `of them is published twice.`,
      );
    }
    this.userId = userId;
    return userId;
  }

  private async relayAll(): Promise<void> {
    while (!this.isStopped) {
      const userId = await this.identify();
      const events = await rowsOf<WaitingEvent>(this.connection, this.statements.claim, userId);
      if (events.length === 0) return;
      const readable: WaitingEvent[] = [];
      for (const event of events) {
        const problem = dataProblem(event.data);
        if (problem === null) readable.push(event);
        else await this.refuse(event, problem);
      }
      if (readable.length > 0) await this.relay(readable);
    }
  }

  private async relay(events: readonly WaitingEvent[]): Promise<void> {
    try {
      await this.send(events);
    } catch (error) {
      const [event, ...others] = events;
      // A batch is all or nothing; sent alone, each event gets its own response.
      if (others.length > 0 && isAboutOne(error)) return this.relayEach(events, error);
      if (event && others.length === 0 && (await this.settle(event, error))) return;
      await this.release(events, 0);
      throw error;
    }
  }

  /**
   * Relays each event alone. An event that only a proxy rejects waits, and lets later ones pass.
   * @throws the error of the batch when a proxy rejects every event: then nothing suggests that one of them is the
   *   cause
   */
  private async relayEach(events: readonly WaitingEvent[], error: unknown): Promise<void> {
    const unheard: WaitingEvent[] = [];
    for (const [i, event] of events.entries()) {
      try {
        await this.relay([event]);
      } catch (thrown) {
        if (isAboutOne(thrown) && !isOfService(thrown)) unheard.push(event);
        else {
          await this.release(events.slice(i + 1), 0);
          throw thrown;
        }
      }
    }
    if (unheard.length === events.length) throw error;
    if (unheard.length > 0) await this.postpone(unheard, error);
  }

  /**
   * Handles the service's response to an event. Returns false when the response is not from the service, or not about
   * the event.
   */
  private async settle(event: WaitingEvent, error: unknown): Promise<boolean> {
    const status = isOfService(error) ? error.status : null;
    const canBeMadeGood = status === 403 || (status === 400 && this.undeclared.has(event.event));
    if (canBeMadeGood) await this.postpone([event], error);
    else if (REFUSED.includes(status ?? 0)) await this.refuse(event, messageOf(error));
    else return false;
    return true;
  }

  private async send(events: readonly WaitingEvent[]): Promise<void> {
    await this.service.events.publishBatch(
      events.map(({ event, data, userId, idempotencyKey, subject }) => ({
        ...{ event, userId, idempotencyKey, ...(subject !== null && { subject }) },
        data: JSON.parse(data) as object,
      })),
      { signal: this.stopping.signal },
    );
    const positions = JSON.stringify(events.map(({ position }) => position));
    await rowsOf(this.connection, this.statements.remove, positions);
  }

  /** Lets events wait for a minute, because the missing requirement can still be met. */
  private async postpone(events: readonly WaitingEvent[], error: unknown): Promise<void> {
    this.say(`Events wait in the outbox, for another token, for their type, or for a proxy: ${messageOf(error)}`);
    await this.release(events, POSTPONED_SECONDS);
  }

  private async refuse({ event, position }: WaitingEvent, message: string): Promise<void> {
    this.logger.error(`The event ${event} (${position} of the outbox) is set aside: ${message}`);
    await rowsOf(this.connection, this.statements.refuse, position, message);
  }

  private async release(events: readonly WaitingEvent[], seconds: number): Promise<void> {
    const positions = JSON.stringify(events.map(({ position }) => position));
    await rowsOf(this.connection, this.statements.release, positions, String(seconds));
  }

  /** Logs a warning, the same one at most once a minute. */
  say(message: string): void {
    const now = performance.now();
    if (now - (this.saidAt.get(message) ?? -Infinity) < SAY_EVERY_MS) return;
    if (this.saidAt.size > MAX_MESSAGES) this.saidAt.clear();
    this.saidAt.set(message, now);
    this.logger.warn(message);
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isOfService = (error: unknown): error is WebhookServiceError =>
  error instanceof WebhookServiceError && error.fromService;

const isAboutOne = (error: unknown): boolean =>
  error instanceof WebhookServiceError && ABOUT_ONE.includes(error.status ?? 0);

/** Returns why data that other programs may have written cannot be relayed as it is; null when it can. */
function dataProblem(data: string): string | null {
  try {
    JSON.parse(data);
    return inexactPartOf(`{"data":${data}}`)?.message ?? null;
  } catch {
    return 'its data is not JSON';
  }
}
