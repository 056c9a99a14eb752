import { Module } from '@nestjs/common';
import { DeferredRepository } from './deferred.repository';
import { DeferralService } from './deferral.service';
import { SlotsService } from './slots.service';

/** Slots for requests, and the deliveries that wait for one. */
@Module({ providers: [SlotsService, DeferredRepository, DeferralService], exports: [SlotsService, DeferralService] })
export class SlotsModule {}
