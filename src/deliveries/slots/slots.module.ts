import { Module } from '@nestjs/common';
import { BacklogService } from './backlog.service';
import { DeferredRepository } from './deferred.repository';
import { DeferralService } from './deferral.service';
import { SlotsService } from './slots.service';

/** Slots for requests, and the deliveries that wait for one. */
@Module({
  providers: [SlotsService, DeferredRepository, DeferralService, BacklogService],
  exports: [SlotsService, DeferralService, BacklogService],
})
export class SlotsModule {}
