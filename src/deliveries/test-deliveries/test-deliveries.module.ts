import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module';
import { CatalogueModule } from '../../catalogue/catalogue.module';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { LogModule } from '../log/log.module';
import { SendingModule } from '../sending/sending.module';
import { TestDeliveriesController } from './test-deliveries.controller';
import { TestDeliveriesService } from './test-deliveries.service';

@Module({
  imports: [AuthModule, CatalogueModule, LogModule, SendingModule, WebhooksModule],
  controllers: [TestDeliveriesController],
  providers: [TestDeliveriesService],
})
export class TestDeliveriesModule {}
