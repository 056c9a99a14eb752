import type { FastifyInstance } from 'fastify';
import { Page } from '../pagination/page';
import { isApiRoute } from './api-route';

/**
 * Wraps the return value of a controller under `/api`: `{ success: true, data }`, with `nextCursor` for a page.
 * `ApiExceptionFilter` writes the envelope of errors; `http-server.setup.ts` only responds to requests that never reach
 * Nest. A hook of the server, because Nest's interceptors cost every request a chain of observables.
 */
export function wrapAnswers(server: FastifyInstance): void {
  server.addHook('preSerialization', (request, reply, payload, done) => {
    done(null, isApiRoute(request.routeOptions.url) && reply.statusCode < 400 ? envelope(payload) : payload);
  });
}

function envelope(data: unknown): object {
  if (data instanceof Page) return { success: true, data: data.items, nextCursor: data.nextCursor };
  return { success: true, data };
}
