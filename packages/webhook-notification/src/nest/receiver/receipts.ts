/** What a request was: handled now, handled by an earlier request, or a repeat of one that is being handled. */
export type Received = 'handled' | 'done' | 'under_way';

/** Remembers which events were handled. */
export interface Receipts<Tx = unknown> {
  /** Makes what it needs, before the first request. */
  prepare?(): Promise<void>;
  /**
   * Calls `handle` unless the event was handled, or is being handled by another request. An event whose `handle` throws was not.
   * @param eventId `webhook-id`
   * @param again true to handle an event that was handled
   * @throws what `handle` throws
   */
  once(eventId: string, again: boolean, handle: (transaction: Tx) => Promise<void>): Promise<Received>;
}
