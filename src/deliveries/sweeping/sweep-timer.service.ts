import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { isDatabaseUnavailable } from '../../plumbing/errors/database-error';
import { HealthService } from '../../plumbing/health/health.service';
import { DeliveriesSweeper } from './sweeper.service';
import { SweepRepository } from './sweep.repository';
import { WatchdogService } from './watchdog.service';

const SWEEP_EVERY_MS = 1000;
const WELL_WITHIN_MS = 15_000;
/** How long PostgreSQL has been back before rows are taken for unattended: first whoever kept an outcome writes it. */
const HEAD_START_MS = 2000;

/** Sweeps from a timer of this process, never from the queue that sweeping repairs. */
@Injectable()
export class SweepTimerService implements OnApplicationShutdown {
  private readonly logger = new Logger('Sweeper');
  private timer?: NodeJS.Timeout;
  private stopped = false;
  private failing = false;
  private postgresWasAway = false;
  private sweptAt = 0;

  constructor(
    private readonly sweeper: DeliveriesSweeper,
    private readonly rows: SweepRepository,
    private readonly watchdog: WatchdogService,
    private readonly health: HealthService,
  ) {}

  start(): void {
    this.sweptAt = Date.now();
    this.health.register('sweeper', async () => this.assertWell());
    void this.run();
  }

  /** Sweeps no more; a sweep that runs ends by itself. */
  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  private async run(): Promise<void> {
    const nextInMs = await this.sweep().catch((error: unknown) => {
      if (!this.failing) this.logger.warn(`Sweeping fails, and is tried again every second: ${String(error)}`);
      this.failing = true;
      this.postgresWasAway ||= isDatabaseUnavailable(error);
      return SWEEP_EVERY_MS;
    });
    if (!this.stopped) this.timer = setTimeout(() => void this.run(), nextInMs);
  }

  /** Answers in how many milliseconds to sweep again. */
  private async sweep(): Promise<number> {
    if (this.postgresWasAway) {
      await this.rows.assertReachable();
      this.postgresWasAway = false;
      return HEAD_START_MS;
    }
    await this.watchdog.judge(await this.sweeper.sweep());
    this.sweptAt = Date.now();
    this.failing = false;
    return SWEEP_EVERY_MS;
  }

  private assertWell(): void {
    if (Date.now() - this.sweptAt > WELL_WITHIN_MS) throw new Error('no sweep has succeeded for a while');
  }
}
