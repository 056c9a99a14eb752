import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import { ClockService } from '../../infrastructure/database/clock.service';
import { lowestIdOf } from '../../infrastructure/database/id-time';

const DAY_MS = 86_400_000;

/** The retention cutoff, by PostgreSQL's clock. */
@Injectable()
export class RetentionCutoffService {
  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
  ) {}

  /** Returns the lowest id within retention. A row with a lower id may be dropped at any moment, so it counts as dropped. */
  firstKeptId(): string {
    return lowestIdOf(this.clock.now().getTime() - this.config.retentionDays * DAY_MS);
  }
}
