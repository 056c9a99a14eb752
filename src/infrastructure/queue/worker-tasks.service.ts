import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Config } from '../config/config';

export interface WorkerTask {
  start(): void;
  /** Begins nothing more. Resolves when the work under way has ended. */
  stop(): Promise<void> | void;
}

/** Starts all tasks with the application, and stops them before it shuts down. With the role `api` none starts. */
@Injectable()
export class WorkerTasksService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly tasks: WorkerTask[] = [];
  private stopped?: Promise<unknown>;

  constructor(private readonly config: Config) {}

  add(task: WorkerTask): void {
    this.tasks.push(task);
  }

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') for (const task of this.tasks) task.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  /** Stops all tasks at once. Resolves when the work under way has ended; may be called again. */
  stop(): Promise<unknown> {
    return (this.stopped ??= Promise.all(this.tasks.map(async (task) => task.stop())));
  }
}
