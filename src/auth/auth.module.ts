import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessToken } from './tokens/access-token.entity';
import { AccessTokensController, MeController } from './tokens/access-tokens.controller';
import { AccessTokensService } from './tokens/access-tokens.service';
import { AuthenticationService } from './bearer/authentication.service';
import { BearerStrategy } from './bearer/bearer.guard';
import { ErasingUsersService } from './erasing-users.service';
import { JwtService } from './bearer/jwt.service';
import { LargeBodiesService } from './bearer/large-bodies.service';
import { RateLimitsService } from './limits/rate-limits.service';
import { UserSharesService } from './limits/user-shares.service';

@Module({
  imports: [PassportModule, TypeOrmModule.forFeature([AccessToken])],
  controllers: [MeController, AccessTokensController],
  providers: [
    AccessTokensService,
    AuthenticationService,
    BearerStrategy,
    ErasingUsersService,
    JwtService,
    LargeBodiesService,
    RateLimitsService,
    UserSharesService,
  ],
  exports: [AuthenticationService, ErasingUsersService, RateLimitsService, UserSharesService],
})
export class AuthModule {}
