import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';

export const WITHOUT_TOKEN_KEY = 'auth:without-token';

/** Marks a route under `/api` that needs no token if the request body has this field, which is itself a credential. */
export function WithoutToken(field: string): MethodDecorator {
  return applyDecorators(SetMetadata(WITHOUT_TOKEN_KEY, field), ApiSecurity({}));
}
