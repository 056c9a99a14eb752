import { Module } from '@nestjs/common';
import { BacklogService } from './backlog.service';
import { DeferredRepository } from './deferred.repository';
import { DeferralService } from './deferral.service';
import { SlotsService } from './slots.service';

@Module({
  providers: [SlotsService, DeferredRepository, DeferralService, BacklogService],
  exports: [SlotsService, DeferralService, BacklogService],
})
export class SlotsModule {}
