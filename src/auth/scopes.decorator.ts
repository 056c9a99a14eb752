import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import { ApiErrors } from '../plumbing/http/api-answer.decorator';
import type { NeededScopes } from './scope';

export const SCOPES_KEY = 'auth:scopes';

/**
 * The scopes that a route needs, of a list at least one; none means that any live token will do. Every route under
 * `/api` says so.
 */
export function Scopes(...scopes: NeededScopes): MethodDecorator {
  return applyDecorators(
    SetMetadata(SCOPES_KEY, scopes),
    ApiBearerAuth(),
    ApiErrors(401, 429, ...(scopes.length > 0 ? [403] : [])),
  );
}
