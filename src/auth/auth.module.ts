import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessToken } from './access-token.entity';
import { AccessTokensController } from './access-tokens.controller';
import { AccessTokensService } from './access-tokens.service';
import { AuthenticationService } from './authentication.service';
import { BearerStrategy } from './bearer.strategy';
import { JwtService } from './jwt.service';
import { LargeBodiesService } from './large-bodies.service';
import { MeController } from './me.controller';
import { RateLimitsService } from './rate-limits.service';

@Module({
  imports: [PassportModule, TypeOrmModule.forFeature([AccessToken])],
  controllers: [MeController, AccessTokensController],
  providers: [
    AccessTokensService,
    AuthenticationService,
    BearerStrategy,
    JwtService,
    LargeBodiesService,
    RateLimitsService,
  ],
  exports: [RateLimitsService],
})
export class AuthModule {}
