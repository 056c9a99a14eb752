import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Origin } from '../accepted-events.service';
import { parseTraceparent } from '../traceparent';

/** How the OpenAPI document describes the header. */
export const TRACEPARENT = {
  name: 'traceparent',
  required: false,
  description: 'W3C Trace Context: deliveries of the event carry the same trace id. Ignored when it is not valid.',
};

/** The request that publishes: its id, and the trace that it belongs to. */
export const PublishOrigin = createParamDecorator((_: unknown, context: ExecutionContext): Origin => {
  const { id, headers } = context.switchToHttp().getRequest<FastifyRequest>();
  // Node joins several headers of this name with commas. The result is not valid and is ignored.
  return { requestId: id, traceparent: parseTraceparent(headers.traceparent?.toString()) };
});
