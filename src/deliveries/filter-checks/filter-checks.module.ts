import { Module } from '@nestjs/common';
import { LogModule } from '../log/log.module';
import { FilterChecksController } from './filter-checks.controller';
import { FilterChecksService } from './filter-checks.service';

/** Compares filters with events that users may see. */
@Module({ imports: [LogModule], controllers: [FilterChecksController], providers: [FilterChecksService] })
export class FilterChecksModule {}
