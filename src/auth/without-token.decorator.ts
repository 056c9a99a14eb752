import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';

export const WITHOUT_TOKEN_KEY = 'auth:without-token';

/** A route under `/api` that takes no token from a request whose body has this field: it is a credential itself. */
export function WithoutToken(field: string): MethodDecorator {
  return applyDecorators(SetMetadata(WITHOUT_TOKEN_KEY, field), ApiSecurity({}));
}
