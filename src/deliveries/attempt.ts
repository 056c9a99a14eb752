import type { DeliveryStatus, HeaderMap, Trigger } from './delivery.entity';
import type { DeliveryError } from './delivery-error';

// One attempt, stage by stage: it becomes an exchange, the exchange an outcome, the outcome a written row.

/** One attempt that is about to be made, with everything that sending it takes. */
export interface Attempt {
  /** The delivery's. */
  id: string;
  webhookId: string;
  /** Owner of the webhook. */
  userId: string;
  eventId: string;
  event: string;
  attempt: number;
  trigger: Trigger;
  /** The event's exact text. */
  body: string;
  /** Of the request that published the event; null when it came with none. */
  traceparent: string | null;
  /** Null when the webhook was deleted. */
  webhook: DueWebhook | null;
}

/** An attempt whose pending row this process has claimed. */
export interface ClaimedDelivery extends Attempt {
  /** Milliseconds until it is due by PostgreSQL's clock; 0 or less: due. */
  dueInMs: number;
}

/**
 * The first attempt of an event at a webhook. It has no row until its outcome is known, or until it has taken so long that
 * it gets a pending one. Until then the row of its event remembers it.
 */
export interface FirstAttempt extends Attempt {
  /** The webhook's url when the event was fanned out. */
  url: string;
  /** When its event was accepted, by PostgreSQL's clock: it is due from then on. */
  scheduledAt: Date;
  /** Its event has no other delivery: with its row the event is fanned out. */
  isOnly: boolean;
}

/** The webhook of an attempt as it was last read. */
export interface DueWebhook {
  url: string;
  active: boolean;
  sealedSecret: Buffer;
  /** Null unless a rotation overlaps, by PostgreSQL's clock. */
  sealedPreviousSecret: Buffer | null;
}

/** What was sent and what came back. */
export interface Exchange {
  url: string;
  /** By PostgreSQL's clock. */
  attemptedAt: Date;
  durationMs: number;
  requestHeaders: HeaderMap;
  /** Null when no response came. */
  response: { status: number; headers: HeaderMap; body: string; bodyTruncated: boolean } | null;
}

/** What an attempt came to: it was made, or it must not be made any more. */
export interface Outcome {
  deliveryId: string;
  status: 'succeeded' | 'failed' | 'canceled';
  error: DeliveryError | null;
  /** Null when no request was made. */
  exchange: Exchange | null;
  /** How long the next attempt waits, in ms; it is inserted together with this outcome. Null when there is none. */
  retryInMs: number | null;
  ending: EventEnding | null;
}

/**
 * How the event has ended for the webhook with this attempt. Null: it has not ended (a retry follows), the attempt was a
 * test, or nothing was sent.
 */
export type EventEnding = 'succeeded' | 'out_of_retries' | 'gone';

/** An outcome in its row. */
export interface Written {
  id: string;
  status: DeliveryStatus;
  /** The next attempt, and how long it waits by PostgreSQL's clock, in ms; null when none was inserted. */
  nextId: string | null;
  nextInMs: number | null;
  /** Of its webhook at this moment; null when the webhook is deleted. */
  consecutiveFailures: number | null;
}
