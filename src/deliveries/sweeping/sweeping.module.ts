import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module';
import { HealthModule } from '../../infrastructure/health/health.module';
import { FanOutModule } from '../fan-out/fan-out.module';
import { AheadRowsService } from './ahead-rows.service';
import { OldestDueService } from './oldest-due.service';
import { SweepRepository } from './sweep.repository';
import { SweepTimerService } from './sweep-timer.service';
import { SweeperService } from './sweeper.service';
import { WatchdogService } from './watchdog.service';

@Module({
  imports: [EventsModule, FanOutModule, HealthModule],
  providers: [AheadRowsService, OldestDueService, SweepRepository, SweepTimerService, SweeperService, WatchdogService],
})
export class SweepingModule {}
