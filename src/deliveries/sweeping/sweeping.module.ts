import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module';
import { HealthModule } from '../../infrastructure/health/health.module';
import { AheadRowsRepository } from './ahead-rows.repository';
import { AheadRowsService } from './ahead-rows.service';
import { OldestDueRepository } from './oldest-due.repository';
import { OldestDueService } from './oldest-due.service';
import { SweepRepository } from './sweep.repository';
import { SweepTimerService } from './sweep-timer.service';
import { SweeperService } from './sweeper.service';
import { WatchdogService } from './watchdog.service';

/** Recovers rows that a queue, a process or a wrong clock has lost. */
@Module({
  imports: [EventsModule, HealthModule],
  providers: [
    AheadRowsRepository,
    AheadRowsService,
    OldestDueRepository,
    OldestDueService,
    SweepRepository,
    SweepTimerService,
    SweeperService,
    WatchdogService,
  ],
})
export class SweepingModule {}
