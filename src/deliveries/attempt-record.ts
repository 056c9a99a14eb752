import type { DeliveryStatus, HeaderMap } from './delivery.entity';
import type { DeliveryError } from './failure';

/** What is written about an attempt that was made, or that must not be made any more. */
export interface AttemptRecord {
  deliveryId: string;
  status: 'succeeded' | 'failed' | 'canceled';
  error: DeliveryError | null;
  /** Null when no request was made. */
  exchange: Exchange | null;
  /** The attempt to insert together with this outcome; null when there is none. */
  next: { id: string; delayMs: number } | null;
}

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
}
