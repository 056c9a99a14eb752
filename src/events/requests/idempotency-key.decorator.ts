import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../infrastructure/errors/api-error';
import { MESSAGES } from '../../infrastructure/errors/messages';

/** Description of the header in the OpenAPI document. Spaces around its value are not part of it. */
export const IDEMPOTENCY_KEY_HEADER = {
  name: 'idempotency-key',
  required: false,
  description: 'The same as the field idempotencyKey.',
  schema: { type: 'string' as const, pattern: '^[!-~]([ -~]{0,253}[!-~])?$' },
};

/**
 * Injects the `Idempotency-Key` header of a request; undefined when there is none.
 * @throws ApiError 400 when there are several
 */
export const IdempotencyKeyHeader = createParamDecorator(
  (_: unknown, context: ExecutionContext): string | undefined => {
    const given = context.switchToHttp().getRequest<FastifyRequest>().raw.headersDistinct['idempotency-key'] ?? [];
    if (given.length > 1) throw new ApiError(400, MESSAGES.severalIdempotencyKeys);
    return given[0];
  },
);
