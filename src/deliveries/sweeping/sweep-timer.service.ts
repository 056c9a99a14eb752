import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import { isDatabaseUnavailable } from '../../infrastructure/errors/database-error';
import { HealthService, UnhealthyError } from '../../infrastructure/health/health.service';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { SweepRepository } from './sweep.repository';
import { SweeperService } from './sweeper.service';
import { WatchdogService } from './watchdog.service';

const SWEEP_EVERY_MS = 1000;
const HEALTHY_WITHIN_MS = 15_000;
/** Delay after PostgreSQL was unavailable: processes write the outcomes that they kept before any row is swept. */
const HEAD_START_MS = 2000;

/** Sweeps on a timer of this process, never through the queue that sweeping repairs. */
@Injectable()
export class SweepTimerService implements OnApplicationBootstrap {
  private readonly logger = new Logger(SweepTimerService.name);
  private postgresWasAway = false;
  private sweptAt = 0;

  constructor(
    private readonly sweeper: SweeperService,
    private readonly rows: SweepRepository,
    private readonly watchdog: WatchdogService,
    private readonly health: HealthService,
    private readonly config: Config,
    tasks: WorkerTasksService,
  ) {
    const logFailure = logFirst(this.logger, 'Sweeping');
    const onFailure = (error: unknown, isRepeated: boolean): void => {
      logFailure(error, isRepeated);
      this.postgresWasAway ||= isDatabaseUnavailable(error);
    };
    tasks.add(new Repeat(() => this.sweep(), { everyMs: SWEEP_EVERY_MS, onFailure }));
  }

  /** Registers a health check: a worker is not ready while no sweep has succeeded for 15 s. */
  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return;
    this.sweptAt = Date.now();
    this.health.register('sweeper', async () => this.assertHealthy());
  }

  private async sweep(): Promise<number> {
    if (this.postgresWasAway) {
      await this.rows.assertReachable();
      this.postgresWasAway = false;
      return HEAD_START_MS;
    }
    await this.watchdog.check(await this.sweeper.sweep());
    this.sweptAt = Date.now();
    return SWEEP_EVERY_MS;
  }

  private assertHealthy(): void {
    if (Date.now() - this.sweptAt > HEALTHY_WITHIN_MS) throw new UnhealthyError('No sweep has succeeded for 15 s.');
  }
}
