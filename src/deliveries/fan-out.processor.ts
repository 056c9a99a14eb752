import { Processor } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { FAN_OUT_QUEUE, type FanOutJob } from '../events/fan-out.queue';
import { processorOptions } from '../queue/processor-options.decorator';
import { TrackedProcessor } from '../queue/tracked.processor';
import { DeliveriesRepository } from './deliveries.repository';
import { firstDeliveryId } from './delivery-id';
import { FanOutRepository } from './fan-out.repository';
import { ParkingService } from './parking.service';
import { SendQueue } from './send.queue';

const CONCURRENCY = 4;

/** Turns events into deliveries. May run twice for an event: ids are computed, and the mark is set last. */
@Processor(FAN_OUT_QUEUE, processorOptions(() => CONCURRENCY))
export class FanOutProcessor extends TrackedProcessor<FanOutJob> {
  constructor(
    private readonly fanOut: FanOutRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly queue: SendQueue,
    private readonly parking: ParkingService,
  ) {
    super();
  }

  protected override async handle(job: Job<FanOutJob>): Promise<void> {
    const events = await this.fanOut.openEvents(job.data.eventIds);
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
      if (rows.length > 0) await this.deliveries.insertFirst(rows);
      await this.queue.offer(rows.filter(({ parked }) => !parked).map(({ id }) => id));
      this.parking.note(rows.filter(({ parked }) => parked));
    }
    await this.fanOut.markFannedOut(events.map(({ id }) => id));
  }
}
