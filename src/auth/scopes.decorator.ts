import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import { ApiErrors } from '../http/api-answer.decorator';
import type { Scope } from './scope';

export const SCOPES_KEY = 'auth:scopes';

/** The scopes that a route needs; none means that any live token will do. Every route under `/api` says so. */
export function Scopes(...scopes: Scope[]): MethodDecorator {
  return applyDecorators(
    SetMetadata(SCOPES_KEY, scopes),
    ApiBearerAuth(),
    ApiErrors(401, ...(scopes.length > 0 ? [403] : [])),
  );
}
