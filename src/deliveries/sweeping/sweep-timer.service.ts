import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { isDatabaseUnavailable } from '../../plumbing/errors/database-error';
import { HealthService, UnhealthyError } from '../../plumbing/health/health.service';
import { Repeat } from '../../plumbing/timers/repeat.timer';
import { SweepRepository } from './sweep.repository';
import { SweeperService } from './sweeper.service';
import { WatchdogService } from './watchdog.service';

const SWEEP_EVERY_MS = 1000;
const WELL_WITHIN_MS = 15_000;
/** After PostgreSQL was away, processes that kept outcomes write them before anything is swept. */
const HEAD_START_MS = 2000;

/** Sweeps from a timer of this process, never from the queue that sweeping repairs. */
@Injectable()
export class SweepTimerService implements OnApplicationShutdown {
  private readonly logger = new Logger('Sweeper');
  private readonly repeat = new Repeat(() => this.sweep(), {
    everyMs: SWEEP_EVERY_MS,
    onFailure: (error) => this.report(error),
  });
  private failing = false;
  private postgresWasAway = false;
  private sweptAt = 0;

  constructor(
    private readonly sweeper: SweeperService,
    private readonly rows: SweepRepository,
    private readonly watchdog: WatchdogService,
    private readonly health: HealthService,
  ) {}

  /** Sweeps every second from now on. The process is not ready while no sweep has succeeded for 15 s. */
  start(): void {
    this.sweptAt = Date.now();
    this.health.register('sweeper', async () => this.assertWell());
    this.repeat.start();
  }

  /** Begins no further sweep; resolves when the one under way has ended. */
  stop(): Promise<void> {
    return this.repeat.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
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

  private report(error: unknown): void {
    if (!this.failing) this.logger.warn(`Sweeping fails, and is tried again every second: ${String(error)}`);
    this.failing = true;
    this.postgresWasAway ||= isDatabaseUnavailable(error);
  }

  private assertWell(): void {
    if (Date.now() - this.sweptAt > WELL_WITHIN_MS) throw new UnhealthyError('No sweep has succeeded for 15 s.');
  }
}
