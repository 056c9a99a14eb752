import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { ClaimedDelivery } from '../attempt';
import type { Lane } from '../lane';
import { ParkingService } from '../slots/parking.service';
import { SlotsService } from '../slots/slots.service';
import { AttemptsService } from './attempts.service';
import { LeasesService } from './leases.service';

/** A row that waits for a slot was due before. One that is due in more than a day has the time of a clock that was ahead. */
const DAY_MS = 86_400_000;

/** Brings a delivery that has a row to its attempt: a slot first, then the row, then the request. */
@Injectable()
export class DispatchService {
  constructor(
    private readonly slots: SlotsService,
    private readonly parking: ParkingService,
    private readonly leases: LeasesService,
    private readonly attempts: AttemptsService,
  ) {}

  /**
   * Attempts a delivery that a job offers, or parks it. Does nothing when it is settled, parked or claimed. Throws only when
   * the infrastructure fails.
   */
  async attemptOffered(deliveryId: string, lane: Lane): Promise<void> {
    if (!(await this.slots.acquire(lane))) return this.parking.park(deliveryId, lane);
    let claimed: ClaimedDelivery | null = null;
    try {
      claimed = await this.leases.claim(deliveryId);
    } finally {
      if (!claimed) this.slots.release(lane, null);
    }
    if (claimed) return this.attemptClaimed(claimed);
    // The job may have come too early.
    await this.leases.release(deliveryId);
  }

  /**
   * Attempts a delivery whose row is claimed and whose slot is held. The slot is released when the request has ended: the
   * next request is made while this outcome is written. Throws only when the infrastructure fails.
   */
  async attemptClaimed(delivery: ClaimedDelivery): Promise<void> {
    if (delivery.dueInMs > 0 && delivery.dueInMs < DAY_MS) await pause(delivery.dueInMs);
    await this.attempts.make(delivery, (pace) => this.slots.release(delivery, pace));
  }
}
