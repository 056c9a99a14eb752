import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import type { Principal } from '../access-token';
import { AuthenticationService } from './authentication.service';

@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  constructor(private readonly authentication: AuthenticationService) {
    super();
  }

  /** Returns `false` for a token that is not live, as Passport expects. */
  async validate(token: string): Promise<Principal | false> {
    return (await this.authentication.authenticate(token)) ?? false;
  }
}
