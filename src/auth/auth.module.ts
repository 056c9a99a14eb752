import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessToken } from './access-token.entity';
import { AccessTokensService } from './access-tokens.service';
import { BearerStrategy } from './bearer.strategy';
import { MeController } from './me.controller';

@Module({
  imports: [PassportModule, TypeOrmModule.forFeature([AccessToken])],
  controllers: [MeController],
  providers: [AccessTokensService, BearerStrategy],
  exports: [AccessTokensService],
})
export class AuthModule {}
