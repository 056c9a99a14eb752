import { Module } from '@nestjs/common';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { RetentionCutoffService } from './retention-cutoff.service';
import { RetentionRepository } from './retention.repository';
import { RetentionService } from './retention.service';

/** Drops days past retention, and provides the retention cutoff to other modules. */
@Module({
  imports: [WebhooksModule],
  providers: [RetentionCutoffService, RetentionRepository, RetentionService],
  exports: [RetentionCutoffService],
})
export class RetentionModule {}
