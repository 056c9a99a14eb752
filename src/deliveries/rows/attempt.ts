import type { DeliveryStatus, HeaderMap, Trigger } from './delivery.entity';
import type { DeliveryError } from './delivery-error';
import type { DueWebhook } from './due-webhook';
import type { EventFormat } from '../../webhooks/formats/event-format';

export interface PartitionKey {
  webhookId: string;
  userId: string;
}

/** Number of deliveries of a webhook that may begin now; a slot is acquired for each. */
export interface Grant extends PartitionKey {
  count: number;
}

// The stages of an attempt, each made from the one before: attempt, exchange, outcome, written row.

/** An attempt about to be made, with all the data that sending requires. */
export interface Attempt {
  id: string;
  webhookId: string;
  userId: string;
  eventId: string;
  event: string;
  attempt: number;
  trigger: Trigger;
  /** The exact body of the event. */
  body: string;
  /** What the event is about; null: published without a subject. */
  subject: string | null;
  /** W3C Trace Context of the publication; null without a trace. */
  traceparent: string | null;
  audience: string | null;
  /** Null when the webhook was deleted, and when a consumer leases its events. */
  webhook: DueWebhook | null;
}

/** The data of a completed attempt. */
export type Attempted = Omit<Attempt, 'body' | 'audience' | 'webhook'>;

/** An attempt whose pending row this process has claimed. */
export interface ClaimedDelivery extends Attempt {
  /** Milliseconds until it is due, by PostgreSQL's clock; 0 or less when it is due. */
  dueInMs: number;
}

/** A first attempt, which has no row yet: it gets one with its outcome, or as a pending row when it is slow. */
export interface FirstAttempt extends Attempt {
  /** The webhook's url when the event was fanned out; null when a consumer leases its events. */
  url: string | null;
  /** When its event was accepted, by PostgreSQL's clock; the attempt is due from then on. */
  scheduledAt: Date;
  /** True when the event has no other delivery: inserting this row then marks it as fanned out. */
  completesEvent: boolean;
}

/** A body that is not that of the event; `format` is undefined for `native`, with a part of the data. */
export interface Formatted {
  format: Exclude<EventFormat, 'native'> | undefined;
  body: string;
}

/** The request that was sent or leased, and its response. */
export interface Exchange {
  /** Null when a consumer leased it. */
  url: string | null;
  /** By PostgreSQL's clock. */
  attemptedAt: Date;
  durationMs: number;
  /** Null when its row has them already. */
  requestHeaders: HeaderMap | null;
  /** What was sent instead of the body of the event; null for that body itself, and when its row has it already. */
  formatted: Formatted | null;
  /** Null when no response arrived. */
  response: { status: number; headers: HeaderMap; body: string; bodyTruncated: boolean } | null;
}

/** The outcome of an attempt that was made, or that must no longer be made. */
export interface Outcome {
  deliveryId: string;
  status: 'succeeded' | 'failed' | 'canceled';
  error: DeliveryError | null;
  /** Null when no request was made. */
  exchange: Exchange | null;
  /** Delay of the next attempt in ms; that attempt is inserted together with this outcome. Null when no attempt follows. */
  retryInMs: number | null;
  /** Of the event for the webhook; null when a retry follows, for a test, and when nothing was sent. */
  finalStatus: 'succeeded' | 'out_of_retries' | 'gone' | null;
}

export interface Written {
  id: string;
  status: DeliveryStatus;
  /** The next attempt and its delay in ms, by PostgreSQL's clock; null when none was inserted. */
  nextId: string | null;
  nextInMs: number | null;
  /** The current count of its webhook; null when the webhook is deleted. */
  consecutiveFailures: number | null;
}
