import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { MonitoredQueue } from '../../infrastructure/config/queue-name';
import { Repeat } from '../../infrastructure/concurrency/repeat.timer';
import type { Held, QueuePositionsRepository } from './queue-positions.repository';
import { type QueuePublisherService, QueueTakenOverError } from './queue-publisher.service';
import type { QueueStream } from './queue-stream';

const CALM_MS = 1000;
/** A third of the time after which another process takes over the queue. */
const HOLD_AGAIN_AFTER_MS = 2000;

export interface Tools {
  positions: QueuePositionsRepository;
  publisher: QueuePublisherService;
  onLoss: (queue: string) => void;
}

/** Reads one queue's stream while no other process does. Starts when it is constructed. */
export class QueueReaderClient {
  private readonly logger = new Logger(QueueReaderClient.name);
  private readonly holder = randomUUID();
  private readonly repeat = new Repeat(() => this.read(), {
    everyMs: CALM_MS,
    onFailure: (error) => this.report(error),
  });
  private held: Held | null = null;
  private heldAt = -Infinity;
  private stopping = false;
  private failing = false;

  constructor(
    private readonly queue: MonitoredQueue,
    private readonly stream: QueueStream,
    private readonly tools: Tools,
  ) {
    this.repeat.start();
  }

  /** Stops reading and lets another process take over the queue at once. Never throws. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.stream.close();
    await this.repeat.stop();
    await this.tools.positions.release(this.stream.key, this.holder).catch(() => undefined);
  }

  private async read(): Promise<number> {
    await this.hold();
    if (this.held) await this.readOn(this.held);
    if (this.failing) this.logger.log(`Reading ${this.stream.key} works again.`);
    this.failing = false;
    return this.held ? 0 : CALM_MS;
  }

  private report(error: unknown): void {
    this.held = null;
    if (error instanceof QueueTakenOverError || this.stopping) return;
    if (!this.failing) this.logger.warn(`Reading ${this.stream.key} fails; retrying: ${String(error)}`);
    this.failing = true;
  }

  private async readOn(held: Held): Promise<void> {
    const { queue, stream, holder, tools } = this;
    const page = await stream.read(held.cursor);
    if (page.loss !== null) {
      this.logger.error(`Events of ${stream.key} are lost: ${page.loss}.`);
      tools.onLoss(stream.key);
    }
    const { next } = page;
    const hasMoved = next.position !== held.cursor.position || next.seen.length !== held.cursor.seen.length;
    if (hasMoved || page.events.length > 0) {
      this.held = await tools.publisher.publish({ queue, stream, holder, held, page });
      this.heldAt = performance.now();
    }
    if (page.events.length === 0) await stream.wait(next);
  }

  private async hold(): Promise<void> {
    const { positions } = this.tools;
    if (this.held && performance.now() - this.heldAt < HOLD_AGAIN_AFTER_MS) return;
    const wasHeld = this.held !== null;
    this.held = await positions.hold(this.stream.key, this.holder);
    if (!this.held && !(await positions.isKnown(this.stream.key))) await this.begin();
    if (!this.held) return;
    this.heldAt = performance.now();
    if (!wasHeld) this.logger.log(`Reading ${this.stream.key} from ${this.held.cursor.position} on.`);
  }

  /** Starts at the end of the stream when a queue is read for the first time: earlier events are not published. */
  private async begin(): Promise<void> {
    await this.tools.positions.begin(this.stream.key, await this.stream.end());
    this.held = await this.tools.positions.hold(this.stream.key, this.holder);
  }
}
