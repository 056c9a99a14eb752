import type { DeliveryStatus, Trigger } from './delivery.entity';

/** A delivery with everything that sending it takes. */
export interface DueDelivery {
  id: string;
  webhookId: string;
  eventId: string;
  event: string;
  attempt: number;
  trigger: Trigger;
  status: DeliveryStatus;
  /** Milliseconds until it is due by PostgreSQL's clock; 0 or less: due. */
  dueInMs: number;
  /** The event's exact text. */
  body: string;
  /** Of its webhook, or null when that was deleted. */
  webhook: { url: string; sealedSecret: Buffer; active: boolean; consecutiveFailures: number } | null;
}
