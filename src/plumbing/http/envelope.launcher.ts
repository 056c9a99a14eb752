import type { FastifyInstance } from 'fastify';
import { Page } from '../pagination/page';
import { isApiRoute } from './api-route';

/**
 * Wraps what a controller under `/api` returns: `{ success: true, data }`, and `nextCursor` beside it for a page.
 * Errors have an envelope of their own. This is a hook of the server, because Nest's interceptors cost every request a
 * chain of observables.
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
