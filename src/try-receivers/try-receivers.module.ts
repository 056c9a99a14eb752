import { Module } from '@nestjs/common';
import { TryReceiversController } from './try-receivers.controller';
import { TryReceiversService } from './try-receivers.service';

@Module({ controllers: [TryReceiversController], providers: [TryReceiversService] })
export class TryReceiversModule {}
