import { setTimeout as pause } from 'node:timers/promises';
import { allPagesOf, type Api, type Delivery, type Success } from '../../support/api';

const RETRY_MS = 100;

/** A client that follows the changes of the log as docs/api.md says, and keeps the last status of every delivery. */
export class ChangesFollower {
  readonly statuses = new Map<string, string>();
  /** How often a cursor was refused, so that the client read the list again. */
  restarts = 0;
  private cursor: string | null = null;
  private stopped = false;
  private following: Promise<void> = Promise.resolve();

  constructor(private readonly api: Api) {}

  start(): void {
    this.stopped = false;
    this.following = this.follow();
  }

  /** A later start continues from its cursor. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.following;
  }

  private async follow(): Promise<void> {
    while (!this.stopped) {
      const isDone = await this.step().catch(() => false);
      if (!isDone) await pause(RETRY_MS);
    }
  }

  /** Returns false when the service could not answer. */
  private async step(): Promise<boolean> {
    if (this.cursor === null) return this.begin();
    const reply = await this.api.listAllDeliveries({ changedAfter: this.cursor, waitSeconds: 1, limit: 1000 });
    if (reply.success) this.accept(reply);
    else if (reply.code === 'cursor_invalid') {
      this.restarts += 1;
      this.cursor = null;
    }
    return reply.success;
  }

  private async begin(): Promise<boolean> {
    const reply = await this.api.listAllDeliveries({ changedAfter: 'now' });
    if (!reply.success) return false;
    const pages = await allPagesOf((query) => this.api.listAllDeliveries({ ...query, limit: 250 }));
    this.statuses.clear();
    for (const { id, status } of pages.flat()) this.statuses.set(id, status);
    this.accept(reply);
    return true;
  }

  private accept({ data, nextCursor }: Success<Delivery[]>): void {
    for (const { id, status } of data) this.statuses.set(id, status);
    this.cursor = nextCursor ?? null;
  }
}
