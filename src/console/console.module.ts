import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { AboutController } from './about.controller';
import { ConsoleLinksController } from './sessions/console-links.controller';
import { ConsoleLinksRepository } from './sessions/console-links.repository';
import { ConsoleLinksService } from './sessions/console-links.service';
import { ConsoleSessionsService } from './sessions/console-sessions.service';
import { GoneReceiversService, TryReceiversService } from './test-receivers/test-receivers.service';
import { TryReceiversController } from './test-receivers/test-receivers.controller';

/** The parts of the API that only the console needs: its settings, its sessions and its test receivers. */
@Module({
  imports: [AuthModule, WebhooksModule],
  controllers: [ConsoleLinksController, AboutController, TryReceiversController],
  providers: [
    ConsoleLinksRepository,
    ConsoleLinksService,
    ConsoleSessionsService,
    GoneReceiversService,
    TryReceiversService,
  ],
})
export class ConsoleModule {}
