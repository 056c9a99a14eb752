import type { DeliveryStatus, HeaderMap, Trigger } from './delivery.entity';
import type { DeliveryError } from './delivery-error';

// One attempt, stage by stage: a due delivery becomes an exchange, the exchange an outcome, the outcome a written row.

/** A delivery with everything that sending it takes. */
export interface DueDelivery {
  id: string;
  webhookId: string;
  /** Owner of the webhook. */
  userId: string;
  eventId: string;
  event: string;
  attempt: number;
  trigger: Trigger;
  status: DeliveryStatus;
  /** It waits for a worker to admit it. */
  parked: boolean;
  /** Milliseconds until it is due by PostgreSQL's clock; 0 or less: due. */
  dueInMs: number;
  /** When its lease ends, in ms since 1970 by PostgreSQL's clock. */
  leasedUntilMs: number;
  /** Milliseconds until then by PostgreSQL's clock; 0 or less: expired. */
  leaseEndsInMs: number;
  /** The event's exact text. */
  body: string;
  /** Of the request that published the event; null when it came with none. */
  traceparent: string | null;
  /** Null when the webhook was deleted. */
  webhook: DueWebhook | null;
}

/** The webhook of a due delivery as it is when the attempt is made. */
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
