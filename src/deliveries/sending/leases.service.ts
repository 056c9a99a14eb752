import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Batcher } from '../../plumbing/database/batcher';
import type { DueDelivery } from '../attempt';
import { DeliveriesRepository } from '../deliveries.repository';
import { isLeasedElsewhere, type Offer } from '../lease';

const MAX_BATCH = 200;
const EXTEND_EVERY_MS = 1000;
/** Well before `JOB_LEASE_MS` is over, so that a slow attempt keeps its row. */
const EXTEND_AFTER_MS = 4000;
/** A lease that ends sooner might expire before the attempt extends it for the first time: it is extended before. */
const LATE_MS = EXTEND_AFTER_MS + 2 * EXTEND_EVERY_MS;

/** The rows that this process holds: it loads them as long as their lease is its own, and extends the lease of slow attempts. */
@Injectable()
export class LeasesService implements OnApplicationShutdown {
  private readonly logger = new Logger('Deliveries');
  private readonly loads = new Batcher<string, DueDelivery | null>((ids) => this.deliveries.loadDue(ids), MAX_BATCH, 2);
  private readonly lateJobs = new Batcher<DueDelivery, number | null>(
    (due) => this.deliveries.extendLateLeases(due),
    MAX_BATCH,
  );
  /** When the lease of each attempt under way has to be extended, in ms of this process. */
  private readonly extendAt = new Map<string, number>();
  private readonly timer = setInterval(() => void this.extend(), EXTEND_EVERY_MS).unref();

  constructor(private readonly deliveries: DeliveriesRepository) {}

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** The row as it is now; null when it is gone. */
  load(deliveryId: string): Promise<DueDelivery | null> {
    return this.loads.add(deliveryId);
  }

  /**
   * The delivery of an offer as it is now; null when nothing is to be attempted any more, when its row is parked, or when it
   * is leased elsewhere and cannot be reclaimed. The lease of a late job is extended. The offer carries a new lease.
   */
  async loadOffered(offer: Offer): Promise<DueDelivery | null> {
    const delivery = await this.load(offer.deliveryId);
    if (delivery?.status !== 'pending' || delivery.parked) return null;
    const isElsewhere = isLeasedElsewhere(delivery, offer);
    if (!isElsewhere && delivery.leaseEndsInMs >= LATE_MS) return delivery;
    const leasedUntilMs = await this.renew(delivery, offer, isElsewhere);
    if (leasedUntilMs === null) return null;
    offer.leasedUntilMs = leasedUntilMs;
    return { ...delivery, leasedUntilMs };
  }

  /** Gives the row to the sweeper. */
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

  private async renew(delivery: DueDelivery, offer: Offer, isElsewhere: boolean): Promise<number | null> {
    const extendedUntilMs = isElsewhere ? null : await this.lateJobs.add(delivery);
    // The sweeper enqueues a job before it commits: the job may have read the row as it was before.
    return extendedUntilMs ?? (offer.ownsDeliveryId ? this.deliveries.reclaimLease(delivery.id) : null);
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
