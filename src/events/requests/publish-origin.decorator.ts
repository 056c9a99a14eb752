import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Origin } from '../accepted-events.service';
import { parseTraceparent } from '../traceparent';

/** Description of the header in the OpenAPI document. */
export const TRACEPARENT = {
  name: 'traceparent',
  required: false,
  description: 'W3C Trace Context. Deliveries of the event carry the same trace id. Ignored when invalid.',
};

/** Injects the request that publishes: its id and its trace. */
export const PublishOrigin = createParamDecorator((_: unknown, context: ExecutionContext): Origin => {
  const { id, headers } = context.switchToHttp().getRequest<FastifyRequest>();
  // Node.js joins several headers of this name with commas. The result is invalid and is ignored.
  return { requestId: id, traceparent: parseTraceparent(headers.traceparent?.toString()) };
});
