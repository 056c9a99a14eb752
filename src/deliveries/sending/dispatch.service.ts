import { Injectable, Logger } from '@nestjs/common';
import { AttemptSlotsService } from '../slots/slots.service';
import { AttemptsService } from './attempts.service';
import type { DueDelivery } from '../due-delivery';
import type { Lane } from '../slots/fair-share';
import { ParkingService } from '../slots/parking.service';
import { SendQueue } from '../send.queue';
import { WebhookEndingsService } from './auto-disable.service';

/** Brings a due delivery to its attempt: now, or when its webhook, its user and this process have room for it. */
@Injectable()
export class DispatchService {
  private readonly logger = new Logger('Deliveries');

  constructor(
    private readonly attempts: AttemptsService,
    private readonly slots: AttemptSlotsService,
    private readonly parking: ParkingService,
    private readonly queue: SendQueue,
    private readonly endings: WebhookEndingsService,
  ) {}

  start(): void {
    this.parking.start((deliveryId, lane) => this.attemptParked(deliveryId, lane));
  }

  stop(): void {
    this.parking.stop();
  }

  /** @param reload the delivery as it is after it has waited for a slot; null when it is not to be attempted any more */
  async dispatch(delivery: DueDelivery, reload: () => Promise<DueDelivery | null>): Promise<void> {
    // Somebody waits for the outcome of a test.
    if (delivery.trigger === 'test') {
      this.slots.force(delivery);
      return this.attempt(delivery);
    }
    const entered = this.slots.enter(delivery);
    if (entered === true) return this.attempt(delivery);
    if (!(await entered)) return this.parking.park(delivery.id, delivery);
    const current = await this.orLeave(delivery, reload);
    if (current) await this.attempt(current);
  }

  private async orLeave(lane: Lane, reload: () => Promise<DueDelivery | null>): Promise<DueDelivery | null> {
    let current: DueDelivery | null = null;
    try {
      current = await reload();
    } finally {
      if (!current) this.slots.leave(lane, null);
    }
    return current;
  }

  /** When it fails, nobody attends to the row any more, and the sweeper finds it. */
  private async attemptParked(deliveryId: string, lane: Lane): Promise<void> {
    let delivery: DueDelivery | null = null;
    try {
      delivery = await this.attempts.load(deliveryId);
      if (delivery?.status === 'pending') return await this.attempt(delivery);
    } catch (error) {
      this.logger.warn(`The attempt ${deliveryId} is left to the sweeper: ${String(error)}`);
    }
    if (delivery?.status !== 'pending') this.slots.leave(lane, null);
  }

  /** The slot has been taken; the next may have it while the outcome is written. */
  private async attempt(delivery: DueDelivery): Promise<void> {
    const made = await this.attempts.make(delivery, (pace) => this.slots.leave(delivery, pace));
    if (made?.nextId) await this.queue.offer([made.nextId], made.nextInMs ?? 0);
    if (made) await this.endings.note(delivery.webhookId, made);
  }
}
