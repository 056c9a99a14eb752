import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DeliveriesRepository } from '../deliveries.repository';

const EXTEND_EVERY_MS = 1000;
/** Well before `JOB_LEASE` ends, so that a slow attempt keeps its row. */
const EXTEND_AFTER_MS = 4000;

/** Tracks the attempts of this process, and extends the leases of slow ones. */
@Injectable()
export class LeasesService implements OnApplicationShutdown {
  private readonly logger = new Logger(LeasesService.name);
  /** When to extend the lease of each attempt in flight, in ms by `performance.now()`. */
  private readonly extendAt = new Map<string, number>();
  private readonly timer = setInterval(() => void this.extend(), EXTEND_EVERY_MS).unref();

  constructor(private readonly deliveries: DeliveriesRepository) {}

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Starts extending the row's lease. Returns false when this process is already making the attempt. */
  begin(deliveryId: string): boolean {
    if (this.extendAt.has(deliveryId)) return false;
    this.extendAt.set(deliveryId, performance.now() + EXTEND_AFTER_MS);
    return true;
  }

  /** Stops extending the lease: the attempt is over. */
  end(deliveryId: string): void {
    this.extendAt.delete(deliveryId);
  }

  /** Puts back the row of an attempt: it waits for the egress proxy. Throws while PostgreSQL is unavailable. */
  async waitForProxy(deliveryId: string): Promise<void> {
    await this.deliveries.waitForProxy(deliveryId);
  }

  private async extend(): Promise<void> {
    const now = performance.now();
    const ids: string[] = [];
    // The entries are ordered by time: after the first that is not due, none is.
    for (const [id, at] of this.extendAt) {
      if (at > now) break;
      ids.push(id);
    }
    for (const id of ids) {
      this.extendAt.delete(id);
      this.extendAt.set(id, now + EXTEND_AFTER_MS);
    }
    try {
      if (ids.length > 0) await this.deliveries.extendLeases(ids);
    } catch (error) {
      this.logger.debug(`Extending the leases of slow attempts failed; retrying in 4 s: ${String(error)}`);
    }
  }
}
