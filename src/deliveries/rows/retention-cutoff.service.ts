import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import { ClockService } from '../../infrastructure/database/clock.service';
import { lowestIdOf } from '../../infrastructure/database/id-time';
import { DAY_MS } from '../../infrastructure/config/durations';

/** The retention cutoff, by PostgreSQL's clock. */
@Injectable()
export class RetentionCutoffService {
  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
  ) {}

  /** Returns the lowest id within retention. A row with a lower id counts as dropped. */
  firstKeptId(): string {
    return this.firstIdOfLast(this.config.retentionDays);
  }

  /** Returns the lowest id that may not be dropped yet: a day stays for one more day, in which its pending deliveries are canceled. */
  firstStoredId(): string {
    return this.firstIdOfLast(this.config.retentionDays + 1);
  }

  private firstIdOfLast(days: number): string {
    return lowestIdOf(this.clock.now().getTime() - days * DAY_MS);
  }
}
