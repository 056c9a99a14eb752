import { type Api, type PublishedEvent, type Reply } from '../../support/api';
import { waitFor } from '../../support/wait-for';

/** A publication as its client saw it. */
export interface Publication {
  event: string;
  sentAt: number;
  answeredAt: number;
  /** Which of the clients sent it. */
  client: number;
  /** Null when the connection broke, or when no answer came in time. */
  status: number | null;
  /** Known when it was answered with 202. */
  id: string | null;
}

export interface Accepted {
  id: string;
  event: string;
  acceptedAt: number;
}

const AT = '2026-01-15T09:30:00.000Z';
const FOLLOWER = { accountId: 'a', follower: { id: 'f', username: 'ada' }, followersCount: 1, observedAt: AT };
const JOB = { jobId: '17', queue: 'mail', name: 'send' };

/** What is published in turn; small, because it is not the size that is tested here. */
const EVENTS: Record<string, Record<string, unknown>> = {
  'job.started': { ...JOB, attempt: 1, startedAt: AT },
  'follower.gained': FOLLOWER,
  'job.completed': { ...JOB, attempts: 1, startedAt: AT, completedAt: AT, durationMs: 0, result: null },
  'follower.lost': FOLLOWER,
};
const NAMES = Object.keys(EVENTS);

/** Ten times what the API takes to answer 503 while PostgreSQL does not respond. */
const ANSWER_WITHIN_MS = 80_000;
const MAX_OPEN = 1000;

/** A client that publishes at a steady rate, whatever the answers, and remembers every one of them. */
export class Load {
  readonly publications: Publication[] = [];
  readonly accepted: Accepted[] = [];
  private timer?: NodeJS.Timeout;
  private sent = 0;
  private open = 0;

  /** @param clients publish in turn */
  constructor(readonly clients: Api[]) {}

  /** @param isWelcome leaves out a publication when it answers false */
  start(ratePerSecond: number, isWelcome: () => boolean = () => true): void {
    this.timer = setInterval(() => {
      if (this.open < MAX_OPEN && isWelcome()) void this.publish();
    }, 1000 / ratePerSecond);
  }

  /** Waits for the answers that are still to come. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await waitFor(() => this.open === 0, { what: 'the last answers to publications' });
  }

  /** Publishes this many at once, and hands on those that were accepted. */
  async burst(count: number): Promise<Accepted[]> {
    const before = this.accepted.length;
    await Promise.all(Array.from({ length: count }, () => this.publish()));
    return this.accepted.slice(before);
  }

  async publish(): Promise<void> {
    const n = this.sent++;
    const event = NAMES[n % NAMES.length] ?? '';
    // Each client publishes every kind of event.
    const client = Math.floor(n / NAMES.length) % this.clients.length;
    const sentAt = Date.now();
    this.open += 1;
    const reply = await this.answerTo(client, {
      event,
      data: EVENTS[event],
      subject: n % 2 === 0 ? null : `job/${n} é`,
    });
    this.open -= 1;
    const answeredAt = Date.now();
    const id = reply?.success && reply.status === 202 ? reply.data.id : null;
    this.publications.push({ event, sentAt, answeredAt, client, status: reply?.status ?? null, id });
    if (id) this.accepted.push({ id, event, acceptedAt: answeredAt });
  }

  private async answerTo(client: number, body: unknown): Promise<Reply<PublishedEvent> | null> {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    return this.clients[client]!.call<PublishedEvent>('POST', '/api/events', { body, signal }).catch(() => null);
  }
}
