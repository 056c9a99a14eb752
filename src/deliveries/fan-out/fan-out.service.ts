import { Injectable } from '@nestjs/common';
import { Batcher } from '../../plumbing/database/batcher';
import { firstDeliveryId } from './first-delivery-id';
import { FanOutRepository, type Subscriber } from './fan-out.repository';
import { ParkingService } from '../slots/parking.service';
import { SendQueue } from '../send.queue';

const MAX_BATCH = 100;
/** Rows that are inserted at once at most, so that the first of many subscribers do not wait for the rows of all. */
const MAX_INSERT = 1000;
/** While one batch is written, the next is read. */
const BATCHES_AT_ONCE = 2;

/**
 * Turns events into deliveries, many events together. A second run for an event changes nothing: the ids of first
 * deliveries are computed from the event, and the event is marked as fanned out with the last of them.
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
    private readonly queue: SendQueue,
    private readonly parking: ParkingService,
  ) {}

  /** Fans out all of these events. Throws when one of them could not be fanned out; the sweeper finds it again. */
  async fanOutAll(eventIds: readonly string[]): Promise<void> {
    await Promise.all(eventIds.map((id) => this.events.add(id)));
  }

  private async turnIntoDeliveries(eventIds: readonly string[]): Promise<void> {
    for await (const { page, isLast } of this.fanOut.subscribers(eventIds)) {
      let at = 0;
      for (; at + MAX_INSERT < page.length; at += MAX_INSERT) await this.insert(page.slice(at, at + MAX_INSERT), []);
      await this.insert(page.slice(at), isLast ? eventIds : []);
    }
  }

  /** @param complete events whose deliveries are all among these and those inserted before */
  private async insert(subscribers: readonly Subscriber[], complete: readonly string[]): Promise<void> {
    const isFull = this.queue.remaining < subscribers.length;
    const rows = subscribers.map((subscriber) => ({
      ...subscriber,
      id: firstDeliveryId(subscriber.eventId, subscriber.webhookId),
      parked: isFull || this.parking.hasParked(subscriber.webhookId),
    }));
    const inserted = await this.fanOut.insert(rows, complete);
    // Rows that already existed were offered by the process that inserted them, or the sweeper will offer them.
    const added = rows.filter(({ id }) => inserted.has(id));
    await this.queue.offer(added.filter(({ parked }) => !parked).map(({ id }) => id));
    this.parking.note(added.filter(({ parked }) => parked));
  }
}
