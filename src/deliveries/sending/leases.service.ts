import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Batcher } from '../../plumbing/database/batcher';
import type { ClaimedDelivery } from '../attempt';
import { ClaimsRepository } from './claims.repository';
import { DeliveriesRepository } from '../deliveries.repository';

const MAX_BATCH = 200;
const EXTEND_EVERY_MS = 1000;
/** Well before `JOB_LEASE` is over, so that a slow attempt keeps its row. */
const EXTEND_AFTER_MS = 4000;

/** The rows that this process has claimed. Extends the leases of slow attempts. */
@Injectable()
export class LeasesService implements OnApplicationShutdown {
  private readonly logger = new Logger('Deliveries');
  private readonly claims = new Batcher<string, ClaimedDelivery | null>((ids) => this.rows.claim(ids), MAX_BATCH, 2);
  /** When the lease of each attempt under way has to be extended, in ms of this process. */
  private readonly extendAt = new Map<string, number>();
  private readonly timer = setInterval(() => void this.extend(), EXTEND_EVERY_MS).unref();

  constructor(
    private readonly rows: ClaimsRepository,
    private readonly deliveries: DeliveriesRepository,
  ) {}

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Claims a row. Null when it is settled, parked or claimed already. Throws while PostgreSQL is away. */
  claim(deliveryId: string): Promise<ClaimedDelivery | null> {
    return this.claims.add(deliveryId);
  }

  /** Gives a row that nobody has claimed to the sweeper. */
  async release(deliveryId: string): Promise<void> {
    await this.deliveries.releaseLeases([deliveryId]);
  }

  /** Keeps the row's lease from now on. False when this process is making the attempt already. */
  begin(deliveryId: string): boolean {
    if (this.extendAt.has(deliveryId)) return false;
    this.extendAt.set(deliveryId, performance.now() + EXTEND_AFTER_MS);
    return true;
  }

  /** The attempt is over: its lease is extended no more. */
  end(deliveryId: string): void {
    this.extendAt.delete(deliveryId);
  }

  private async extend(): Promise<void> {
    const now = performance.now();
    const ids: string[] = [];
    // In the order in which they began: after the first that is not due, none is.
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
      this.logger.debug(`The leases of slow attempts cannot be extended: ${String(error)}`);
    }
  }
}
