import type { DeliveryStatus, HeaderMap } from './delivery.entity';
import type { DeliveryError } from './delivery-error';

/** What is written about an attempt that was made, or that must not be made any more. */
export interface AttemptRecord {
  deliveryId: string;
  status: 'succeeded' | 'failed' | 'canceled';
  error: DeliveryError | null;
  /** Null when no request was made. */
  exchange: Exchange | null;
  /** The attempt to insert together with this outcome; null when there is none. */
  next: { id: string; delayMs: number } | null;
  ending: EventEnding | null;
}

/**
 * What an attempt means for the health of its webhook; null when nothing: more attempts follow, it is a test, or nothing
 * was sent.
 */
export type EventEnding = 'succeeded' | 'out_of_retries' | 'gone';

export interface Exchange {
  url: string;
  attemptedAt: Date;
  durationMs: number;
  requestHeaders: HeaderMap;
  response: { status: number; headers: HeaderMap; body: string; bodyTruncated: boolean } | null;
}

/** What the database made of a record. */
export interface Recorded {
  id: string;
  status: DeliveryStatus;
  /** The next attempt and how long it has to wait by PostgreSQL's clock; null when none was inserted. */
  nextId: string | null;
  nextInMs: number | null;
  /** Of its webhook at this moment; null when that is deleted. */
  consecutiveFailures: number | null;
}

/** An attempt that was written down, and how its event has ended with it. */
export interface Made extends Recorded {
  ending: EventEnding | null;
}
