import { Module } from '@nestjs/common';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { RetentionService } from './retention.service';

@Module({
  imports: [WebhooksModule],
  providers: [RetentionService],
})
export class RetentionModule {}
