import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';

/** How the OpenAPI document describes the header. Spaces around its value are not a part of it. */
export const IDEMPOTENCY_KEY_HEADER = {
  name: 'idempotency-key',
  required: false,
  description: 'The same as the field idempotencyKey.',
  schema: { type: 'string' as const, pattern: '^[!-~]([ -~]{0,253}[!-~])?$' },
};

/** The one `Idempotency-Key` header of a request; undefined when there is none. Several are answered with 400. */
export const IdempotencyKeyHeader = createParamDecorator(
  (_: unknown, context: ExecutionContext): string | undefined => {
    const given = context.switchToHttp().getRequest<FastifyRequest>().raw.headersDistinct['idempotency-key'] ?? [];
    if (given.length > 1) throw new ApiError(400, MESSAGES.severalIdempotencyKeys);
    return given[0];
  },
);
