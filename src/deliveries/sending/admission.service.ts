import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { WorkersService } from '../../plumbing/queue/workers.service';
import { Repeat } from '../../plumbing/timers/repeat.timer';
import type { ClaimedDelivery } from '../attempt';
import { ClaimsRepository } from './claims.repository';
import { ParkingService } from '../slots/parking.service';
import { SlotsService } from '../slots/slots.service';
import { DispatchService } from './dispatch.service';

const LOOK_EVERY_MS = 1000;
const FORGET_IDLE_EVERY_MS = 600_000;

/**
 * Admits parked deliveries as slots become free, user by user. Learns which webhooks have some from this process's own
 * parking, and every second from PostgreSQL, where other processes park too.
 */
@Injectable()
export class AdmissionService implements OnApplicationShutdown {
  private readonly logger = new Logger('Parking');
  private readonly looking = new Repeat(() => this.look(), {
    everyMs: LOOK_EVERY_MS,
    onFailure: (error) => this.report(error),
  });
  private started = false;
  private admitting = false;
  private failing = false;
  private idleForgottenAt = Date.now();

  constructor(
    private readonly slots: SlotsService,
    private readonly parking: ParkingService,
    private readonly claims: ClaimsRepository,
    private readonly dispatch: DispatchService,
    private readonly workers: WorkersService,
  ) {}

  /** Admits from now on, whenever a slot is free or something was parked. */
  start(): void {
    this.started = true;
    this.slots.whenFree(() => void this.admit());
    this.parking.whenParked(() => void this.admit());
    this.looking.start();
  }

  /** Admits nothing any more; attempts under way end by themselves. */
  async stop(): Promise<void> {
    this.started = false;
    await this.looking.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  private async look(): Promise<void> {
    if (Date.now() - this.idleForgottenAt > FORGET_IDLE_EVERY_MS) {
      this.slots.forgetIdle();
      this.idleForgottenAt = Date.now();
    }
    await this.parking.look();
    this.failing = false;
    void this.admit();
  }

  private async admit(): Promise<void> {
    if (this.admitting || !this.started) return;
    this.admitting = true;
    try {
      while (this.started && this.parking.lanes.size > 0 && (await this.admitOnce()));
    } catch (error) {
      this.report(error);
    } finally {
      this.admitting = false;
    }
  }

  /** False when no lane may have a slot now. */
  private async admitOnce(): Promise<boolean> {
    const wanted = this.slots.acquireFor(this.parking.lanes);
    if (wanted.length === 0) return false;
    const unused = new Map(wanted.map((admission) => [admission.webhookId, { ...admission }]));
    try {
      for (const delivery of await this.claims.admit(wanted)) {
        const admission = unused.get(delivery.webhookId);
        if (!admission) continue;
        admission.count -= 1;
        void this.workers.during(() => this.attempt(delivery));
      }
      for (const { webhookId, count } of unused.values()) if (count > 0) this.parking.lanes.remove(webhookId);
      return true;
    } finally {
      for (const lane of unused.values()) for (; lane.count > 0; lane.count -= 1) this.slots.release(lane, null);
    }
  }

  /** Never throws: what fails is left to the sweeper, which finds the row when its lease has expired. */
  private async attempt(delivery: ClaimedDelivery): Promise<void> {
    try {
      await this.dispatch.attemptClaimed(delivery);
    } catch (error) {
      this.logger.warn(`The attempt ${delivery.id} is left to the sweeper: ${String(error)}`);
    }
  }

  private report(error: unknown): void {
    if (!this.failing) this.logger.warn(`Letting parked deliveries in fails, and is tried again: ${String(error)}`);
    this.failing = true;
  }
}
