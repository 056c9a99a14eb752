import { Injectable } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import { ClockService } from '../../plumbing/database/clock.service';
import { lowestIdOf } from '../../plumbing/database/id-time';

const DAY_MS = 86_400_000;

/** Where retention ends, by PostgreSQL's clock. */
@Injectable()
export class RetentionCutoffService {
  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
  ) {}

  /** What has a lower id is past retention: it may be dropped at any moment, so it counts as dropped already. */
  firstKeptId(): string {
    return lowestIdOf(this.clock.now().getTime() - this.config.retentionDays * DAY_MS);
  }
}
