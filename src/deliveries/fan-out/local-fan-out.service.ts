import { Injectable, Logger } from '@nestjs/common';
import { FanOutQueue } from '../../events/fan-out.queue';
import { WorkersService } from '../../plumbing/queue/workers.service';
import { FanOutService } from './fan-out.service';

/** The most events of its own publishers that a process fans out at once. Further events become jobs for any worker. */
const MAX_EVENTS = 200;

/** In a process that both publishes and works, fans out the events that it publishes without a job. */
@Injectable()
export class LocalFanOutService {
  private readonly logger = new Logger('LocalFanOut');
  private started = false;
  private underWay = 0;

  constructor(
    private readonly queue: FanOutQueue,
    private readonly fanOut: FanOutService,
    private readonly workers: WorkersService,
  ) {}

  /** Takes what the publishers of this process offer, from now on. */
  start(): void {
    this.started = true;
    this.queue.whenOffered(() => this.take());
  }

  /** Takes nothing more. What is under way ends by itself; `WorkersService` waits for it. */
  async stop(): Promise<void> {
    this.started = false;
  }

  private take(): void {
    const eventIds = this.started ? this.queue.take(MAX_EVENTS - this.underWay) : [];
    if (eventIds.length === 0) return;
    this.underWay += eventIds.length;
    void this.workers
      .during(() => this.fanOut.fanOutAll(eventIds))
      .catch((error: unknown) => this.logger.warn(`Events are left to the sweeper: ${String(error)}`))
      .finally(() => (this.underWay -= eventIds.length));
  }
}
