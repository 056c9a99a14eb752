import { Injectable } from '@nestjs/common';
import { Batcher } from '../database/batcher';
import { DeliveriesRepository } from './deliveries.repository';
import { firstDeliveryId } from './delivery-id';
import { FanOutRepository } from './fan-out.repository';
import { ParkingService } from './parking.service';
import { SendQueue } from './send.queue';

const MAX_BATCH = 100;
/** While one batch is written, the next is read. */
const BATCHES_AT_ONCE = 2;

/**
 * Turns events into deliveries, as many together as there are. May run twice for an event: ids are computed, and the mark
 * is set last.
 */
@Injectable()
export class FanOutService {
  private readonly events = new Batcher<string, void>(
    async (ids) => {
      await this.turnIntoDeliveries([...new Set(ids)]);
      return ids.map(() => undefined);
    },
    MAX_BATCH,
    BATCHES_AT_ONCE,
  );

  constructor(
    private readonly fanOut: FanOutRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly queue: SendQueue,
    private readonly parking: ParkingService,
  ) {}

  /** Rejects when an event could not be fanned out. */
  async fanOutAll(eventIds: readonly string[]): Promise<void> {
    await Promise.all(eventIds.map((id) => this.events.add(id)));
  }

  private async turnIntoDeliveries(eventIds: readonly string[]): Promise<void> {
    const events = await this.fanOut.openEvents(eventIds);
    if (events.length === 0) return;
    const names = new Map(events.map(({ id, name }) => [id, name]));
    for await (const page of this.fanOut.subscribers(events)) {
      const isFull = this.queue.room < page.length;
      const rows = page.map((subscriber) => ({
        ...subscriber,
        id: firstDeliveryId(subscriber.eventId, subscriber.webhookId),
        event: names.get(subscriber.eventId) ?? '',
        parked: isFull || this.parking.isBacklogged(subscriber.webhookId),
      }));
      if (rows.length === 0) continue;
      const inserted = await this.deliveries.insertFirst(rows);
      // Of the others somebody else has reminded, or the sweeper will.
      const added = rows.filter(({ id }) => inserted.has(id));
      await this.queue.offer(added.filter(({ parked }) => !parked).map(({ id }) => id));
      this.parking.note(added.filter(({ parked }) => parked));
    }
    await this.fanOut.markFannedOut(events.map(({ id }) => id));
  }
}
