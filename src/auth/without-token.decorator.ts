import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ANYWHERE, ApiErrors } from '../plumbing/http/api-answer.decorator';

export const WITHOUT_TOKEN_KEY = 'auth:without-token';

/** A route under `/api` that takes no token. What it takes instead may be wrong (401), or wrong too often (429). */
export function WithoutToken(): MethodDecorator {
  return applyDecorators(SetMetadata(WITHOUT_TOKEN_KEY, true), ApiErrors(...ANYWHERE, 401, 429));
}
