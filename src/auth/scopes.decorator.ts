import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
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
