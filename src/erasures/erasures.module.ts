import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { ErasurePagesRepository } from './erasure-pages.repository';
import { ErasureProgressService } from './erasure-progress.service';
import { Erasure } from './erasure.entity';
import { ErasuresController } from './erasures.controller';
import { ErasuresRepository } from './erasures.repository';
import { ErasuresService } from './erasures.service';

@Module({
  imports: [TypeOrmModule.forFeature([Erasure]), AuthModule, WebhooksModule],
  controllers: [ErasuresController],
  providers: [ErasurePagesRepository, ErasureProgressService, ErasuresRepository, ErasuresService],
})
export class ErasuresModule {}
