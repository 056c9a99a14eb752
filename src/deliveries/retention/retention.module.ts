import { Module } from '@nestjs/common';
import { RetentionCutoffService } from './retention-cutoff.service';
import { RetentionRepository } from './retention.repository';
import { RetentionService } from './retention.service';

/** Drops days past retention, and provides the retention cutoff to other modules. */
@Module({
  providers: [RetentionCutoffService, RetentionRepository, RetentionService],
  exports: [RetentionCutoffService],
})
export class RetentionModule {}
