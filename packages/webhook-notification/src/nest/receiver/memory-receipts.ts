import type { Received, Receipts } from './receipts';

const DAY_MS = 86_400_000;
const MAX_EVENTS = 100_000;

/**
 * Remembers handled events in this process, for a day, and the newest 100,000 at most. For one process whose handlers may run again
 * after a restart.
 */
export class MemoryReceipts implements Receipts<undefined> {
  /** When each event was handled, oldest first; null while it is. */
  private readonly handledAt = new Map<string, number | null>();

  async once(eventId: string, again: boolean, handle: (transaction: undefined) => Promise<void>): Promise<Received> {
    const before = this.handledAt.get(eventId);
    if (before === null) return 'under_way';
    const isKnown = before !== undefined && before > Date.now() - DAY_MS;
    if (isKnown && !again) return 'done';
    this.note(eventId, null);
    try {
      await handle(undefined);
    } catch (error) {
      if (isKnown) this.note(eventId, before);
      else this.handledAt.delete(eventId);
      throw error;
    }
    this.note(eventId, Date.now());
    return 'handled';
  }

  private note(eventId: string, at: number | null): void {
    this.handledAt.delete(eventId);
    this.handledAt.set(eventId, at);
    for (const [oldest, handledAt] of this.handledAt) {
      if (this.handledAt.size <= MAX_EVENTS) return;
      if (handledAt !== null) this.handledAt.delete(oldest);
    }
  }
}
