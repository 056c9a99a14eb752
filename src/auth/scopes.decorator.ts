import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension, ApiSecurity } from '@nestjs/swagger';
import { ApiErrors, ApiOtherErrors } from '../infrastructure/http/api-answer.decorator';
import type { NeededScopes } from './scope';

export const SCOPES_KEY = 'auth:scopes';

/**
 * Sets the scopes that a route requires: all of them; of an inner list, at least one. Without scopes, any live token is
 * accepted. Every route under `/api` has this decorator.
 */
export function Scopes(...scopes: NeededScopes): MethodDecorator {
  return applyDecorators(
    SetMetadata(SCOPES_KEY, scopes),
    ApiBearerAuth(),
    ApiErrors('unauthenticated', 'rate_limited', ...(scopes.length > 0 ? (['scope_missing'] as const) : [])),
    ApiOtherErrors(),
    ...(scopes.length > 0 ? [ApiExtension('x-required-scope', scopes.length > 1 ? scopes : scopes[0])] : []),
  );
}

export const WITHOUT_TOKEN_KEY = 'auth:without-token';

/** Marks a route under `/api` that needs no token if the request body has this field, which is itself a credential. */
export function WithoutToken(field: string): MethodDecorator {
  return applyDecorators(SetMetadata(WITHOUT_TOKEN_KEY, field), ApiSecurity({}));
}
