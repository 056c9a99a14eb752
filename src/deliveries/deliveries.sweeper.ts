import { Injectable, Logger } from '@nestjs/common';
import { FanOutQueue } from '../events/fan-out.queue';
import { RedisMemoryClient } from '../queue/redis-memory.client';
import { SendQueue } from './send.queue';
import { SweepRepository } from './sweep.repository';

/** How many unattended rows a sweep has put back on their queues. */
export interface Swept {
  events: number;
  deliveries: number;
}

const MAX_ROWS = 1000;

/** Turns rows that nobody attends to into jobs again. Any number of sweepers may run at once. */
@Injectable()
export class DeliveriesSweeper {
  private readonly logger = new Logger('Sweeper');

  constructor(
    private readonly rows: SweepRepository,
    private readonly fanOut: FanOutQueue,
    private readonly send: SendQueue,
    private readonly memory: RedisMemoryClient,
  ) {}

  /** Throws while a store is away: then the rows stay as they are, for the next sweep. */
  async sweep(): Promise<Swept> {
    if (await this.memory.wasLost()) {
      const suspected = await this.rows.suspectAll();
      if (suspected > 0) this.logger.warn(`The queue has forgotten ${suspected} rows: they are put on it again.`);
    }
    const swept = {
      events: await this.renewAll((limit) => this.rows.renewEvents(limit, (ids) => this.fanOut.remind(ids))),
      deliveries: await this.renewAll((limit) => this.rows.renewDeliveries(limit, (ids) => this.send.remind(ids))),
    };
    if (swept.events + swept.deliveries > 0) this.logger.log({ msg: 'swept', ...swept });
    return swept;
  }

  private async renewAll(renew: (limit: number) => Promise<number>): Promise<number> {
    let total = 0;
    for (let found = MAX_ROWS; found === MAX_ROWS; total += found) found = await renew(MAX_ROWS);
    return total;
  }
}
