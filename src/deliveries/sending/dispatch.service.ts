import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { DueDelivery } from '../attempt';
import type { Offer } from '../lease';
import type { Lane } from '../slots/fair-share';
import { ParkingService } from '../slots/parking.service';
import { SlotsService } from '../slots/slots.service';
import { AttemptsService } from './attempts.service';
import { LeasesService } from './leases.service';

/** A job may come early by this much. A job that comes earlier has a clock that is ahead. */
const SHORT_WAIT_MS = 1000;

/** Brings a delivery to its attempt: at once, or when its webhook, its user and this process have a slot for it. */
@Injectable()
export class DispatchService {
  private readonly logger = new Logger('Deliveries');

  constructor(
    private readonly leases: LeasesService,
    private readonly slots: SlotsService,
    private readonly parking: ParkingService,
    private readonly attempts: AttemptsService,
  ) {}

  /**
   * Attempts the delivery of a job's offer when it is due, or parks it. Does nothing when its row is settled or leased
   * elsewhere. Throws only when the infrastructure fails.
   */
  async attemptOffered(offer: Offer): Promise<void> {
    const delivery = await this.leases.loadOffered(offer);
    if (!delivery) return;
    if (delivery.dueInMs > SHORT_WAIT_MS) return this.leases.release(delivery.id);
    if (delivery.dueInMs > 0) {
      await pause(delivery.dueInMs);
      return this.attemptOffered(offer);
    }
    await this.attemptDue(delivery, offer);
  }

  /**
   * Attempts a parked delivery that was admitted: its slot is held already, and is released here. Never throws: what fails
   * is left to the sweeper, which finds the row when its lease has expired.
   */
  async attemptAdmitted(deliveryId: string, lane: Lane): Promise<void> {
    let delivery: DueDelivery | null = null;
    try {
      delivery = await this.leases.load(deliveryId);
      if (delivery?.status === 'pending') return await this.attempt(delivery);
    } catch (error) {
      this.logger.warn(`The attempt ${deliveryId} is left to the sweeper: ${String(error)}`);
    }
    if (delivery?.status !== 'pending') this.slots.release(lane, null);
  }

  private async attemptDue(delivery: DueDelivery, offer: Offer): Promise<void> {
    // A user waits for the outcome of a test.
    if (delivery.trigger === 'test') {
      this.slots.acquireAnyway(delivery);
      return this.attempt(delivery);
    }
    const acquired = this.slots.acquire(delivery);
    if (acquired === true) return this.attempt(delivery);
    if (!(await acquired)) return this.parking.park(delivery);
    const current = await this.reload(offer, delivery);
    if (current) await this.attempt(current);
  }

  /** The delivery after it has waited in the line; without one its slot is released. */
  private async reload(offer: Offer, lane: Lane): Promise<DueDelivery | null> {
    let current: DueDelivery | null = null;
    try {
      current = await this.leases.loadOffered(offer);
    } finally {
      if (!current) this.slots.release(lane, null);
    }
    return current;
  }

  /** The slot is held; it is released when the request has ended, and the next request is made while this outcome is written. */
  private attempt(delivery: DueDelivery): Promise<void> {
    return this.attempts.make(delivery, (pace) => this.slots.release(delivery, pace));
  }
}
