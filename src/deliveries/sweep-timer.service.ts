import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { HealthService } from '../health/health.service';
import { DeliveriesSweeper } from './deliveries.sweeper';
import { WatchdogService } from './watchdog.service';

const SWEEP_EVERY_MS = 1000;
const WELL_WITHIN_MS = 15_000;

/** Sweeps from a timer of this process, never from the queue that sweeping repairs. */
@Injectable()
export class SweepTimerService implements OnApplicationShutdown {
  private readonly logger = new Logger('Sweeper');
  private timer?: NodeJS.Timeout;
  private stopped = false;
  private failing = false;
  private sweptAt = 0;

  constructor(
    private readonly sweeper: DeliveriesSweeper,
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
    try {
      await this.watchdog.judge(await this.sweeper.sweep());
      this.sweptAt = Date.now();
      this.failing = false;
    } catch (error) {
      if (!this.failing) this.logger.warn(`Sweeping fails, and is tried again every second: ${String(error)}`);
      this.failing = true;
    }
    if (!this.stopped) this.timer = setTimeout(() => void this.run(), SWEEP_EVERY_MS);
  }

  private assertWell(): void {
    if (Date.now() - this.sweptAt > WELL_WITHIN_MS) throw new Error('no sweep has succeeded for a while');
  }
}
