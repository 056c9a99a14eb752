import type { DeliveryStatus, Trigger } from './delivery.entity';

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
  /** Milliseconds until it is due by PostgreSQL's clock; 0 or less: due. */
  dueInMs: number;
  /** Until when it is attended to, in ms since 1970 by PostgreSQL's clock. */
  attendedUntilMs: number;
  /** The event's exact text. */
  body: string;
  /** Of the request that published the event; null when it came with none. */
  traceparent: string | null;
  /** Of its webhook, or null when that was deleted. */
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
