import type { Receipts } from './receipts';
import type { WebhookSignatureGuardOptions } from './webhook-signature.guard';

/** Deliveries are verified by Standard Webhooks, which signs `webhook-id`. */
export interface WebhookReceiverOptions extends Omit<WebhookSignatureGuardOptions, 'scheme'> {
  /** Where handled events are remembered. Default: in memory. */
  receipts?: Receipts;
  /**
   * Whether a redelivery that somebody asked for is handled although its event was. Default: false. The header that says so is not
   * signed: who has recorded a delivery could repeat it within the tolerance.
   */
  redeliveries?: boolean;
  /**
   * Whether handlers with names are called by the name in a header under the format `payload`. Default: false. No signature covers
   * it: whoever recorded a delivery can send it again under another name.
   */
  trustHeaders?: boolean;
}

export const RECEIVER_OPTIONS = Symbol('WebhookReceiverOptions');
export const RECEIPTS = Symbol('Receipts');
/** Metadata of a handler: the names of the events that it is called for. */
export const HANDLED_EVENTS = 'webhook-notification:handled-events';
