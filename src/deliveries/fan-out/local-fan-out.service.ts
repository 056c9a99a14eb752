import { Injectable, Logger } from '@nestjs/common';
import { FanOutQueue } from '../../events/fan-out.queue';
import { WorkersService } from '../../plumbing/queue/workers.service';
import { FanOutService } from './fan-out.service';

/** Events of its own publishers that a process fans out at once; what goes beyond that is for all workers. */
const MAX_EVENTS = 200;

/** In a process that works and publishes, events are fanned out without a way over the queue. */
@Injectable()
export class LocalFanOutService {
  private readonly logger = new Logger('LocalFanOut');
  private underWay = 0;

  constructor(
    private readonly queue: FanOutQueue,
    private readonly fanOut: FanOutService,
    private readonly workers: WorkersService,
  ) {}

  start(): void {
    this.queue.divert((eventIds) => this.take(eventIds));
  }

  stop(): void {
    this.queue.divert(null);
  }

  /** False when there is too much under way already. What fails is found by the sweeper. */
  private take(eventIds: readonly string[]): boolean {
    if (this.underWay + eventIds.length > MAX_EVENTS) return false;
    this.underWay += eventIds.length;
    void this.workers
      .during(() => this.fanOut.fanOutAll(eventIds))
      .catch((error: unknown) => this.logger.warn(`Events are left to the sweeper: ${String(error)}`))
      .finally(() => (this.underWay -= eventIds.length));
    return true;
  }
}
