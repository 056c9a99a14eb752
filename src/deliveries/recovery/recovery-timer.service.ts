import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { isDatabaseUnavailable } from '../../plumbing/errors/database-error';
import { RecoveryProgressService } from './recovery-progress.service';

const CONTINUE_EVERY_MS = 1000;

/** Takes recoveries further from a timer of this process: one that began in another process goes on here. */
@Injectable()
export class RecoveryTimerService implements OnApplicationShutdown {
  private readonly logger = new Logger('Recoveries');
  private readonly stopping = new AbortController();

  constructor(private readonly progress: RecoveryProgressService) {}

  start(): void {
    void this.run();
  }

  /** Takes no further step; one that is under way ends by itself. */
  stop(): void {
    this.stopping.abort();
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await this.progress.continueAll();
      } catch (error) {
        if (!isDatabaseUnavailable(error)) this.logger.error(`Recoveries cannot go on at present: ${String(error)}`);
      }
      await pause(CONTINUE_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
