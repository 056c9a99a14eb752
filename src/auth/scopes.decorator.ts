import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import { ANYWHERE, ApiErrors } from '../infrastructure/http/api-answer.decorator';
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
    ApiErrors(...ANYWHERE, 401, 429, ...(scopes.length > 0 ? [403] : [])),
  );
}
