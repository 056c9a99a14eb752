import { Module } from '@nestjs/common';
import { CatalogueModule } from '../../catalogue/catalogue.module';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { LogModule } from '../log/log.module';
import { SendingModule } from '../sending/sending.module';
import { TestDeliveriesController } from './test-deliveries.controller';
import { TestDeliveriesService } from './test-deliveries.service';
import { TestDeliveriesRepository } from './test-deliveries.repository';

/** Test deliveries. The user's request waits for the outcome. */
@Module({
  imports: [CatalogueModule, LogModule, SendingModule, WebhooksModule],
  controllers: [TestDeliveriesController],
  providers: [TestDeliveriesService, TestDeliveriesRepository],
})
export class TestDeliveriesModule {}
