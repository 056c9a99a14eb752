import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import { ANYWHERE, ApiErrors } from '../plumbing/http/api-answer.decorator';
import type { NeededScopes } from './scope';

export const SCOPES_KEY = 'auth:scopes';

/**
 * Names the scopes that a route needs: each of them; of an inner list, at least one. Without any scope every live token
 * will do. Every route under `/api` has this decorator.
 */
export function Scopes(...scopes: NeededScopes): MethodDecorator {
  return applyDecorators(
    SetMetadata(SCOPES_KEY, scopes),
    ApiBearerAuth(),
    ApiErrors(...ANYWHERE, 401, 429, ...(scopes.length > 0 ? [403] : [])),
  );
}
