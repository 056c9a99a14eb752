import { Injectable, Logger } from '@nestjs/common';
import { FanOutQueue } from '../../events/fan-out.queue';
import { type WorkerTask, WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { WorkersService } from '../../infrastructure/queue/workers.service';
import { FanOutService } from './fan-out.service';

/** Maximum number of its own events that a process fans out at once. Further events become jobs for any worker. */
const MAX_EVENTS = 200;

/** Fans out events without a job in a process that both publishes and works. */
@Injectable()
export class LocalFanOutService implements WorkerTask {
  private readonly logger = new Logger(LocalFanOutService.name);
  private started = false;
  private underWay = 0;

  constructor(
    private readonly queue: FanOutQueue,
    private readonly fanOut: FanOutService,
    private readonly workers: WorkersService,
    tasks: WorkerTasksService,
  ) {
    tasks.add(this);
  }

  start(): void {
    this.started = true;
    this.queue.whenAdded(() => this.take());
  }

  /** Stops taking events. Those in progress end by themselves; `WorkersService` waits for them. */
  stop(): void {
    this.started = false;
  }

  private take(): void {
    const eventIds = this.started ? this.queue.take(MAX_EVENTS - this.underWay) : [];
    if (eventIds.length === 0) return;
    this.underWay += eventIds.length;
    void this.workers
      .during(() => this.fanOut.fanOutAll(eventIds))
      .catch((error: unknown) =>
        this.logger.warn(`Fanning out events failed; the sweeper will retry: ${String(error)}`),
      )
      .finally(() => (this.underWay -= eventIds.length));
  }
}
