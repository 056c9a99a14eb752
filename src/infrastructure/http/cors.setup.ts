import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RouteMethods } from './route-methods';

/** Pages of other origins never act as a browser session, nor as a receiver, and have no use for the documentation. */
const EXCLUDED = /^\/(api\/console-sessions|docs|try)(\/|$)/;
const EXPOSED = ['etag', 'location', 'retry-after', 'ratelimit', 'ratelimit-policy', 'x-request-id'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const MAX_AGE_SECONDS = 600;

/** Returns the path as the router reads it: `%2D` is a hyphen. A path that does not decode has no route. */
function pathOf({ url }: FastifyRequest): string {
  try {
    return decodeURI(url.split('?', 1)[0] ?? '');
  } catch {
    return '';
  }
}

/**
 * Lets pages of these origins call the API with a token; never with credentials of the browser. Must be registered before
 * the hooks that reject requests, so that pages can read the errors too.
 */
export function allowOrigins(server: FastifyInstance, origins: readonly string[], routes: RouteMethods): void {
  void server.register(cors, {
    delegator: (request, callback) => {
      const isOpen = origins.includes(request.headers.origin ?? '') && !EXCLUDED.test(pathOf(request));
      callback(null, {
        origin: isOpen ? [...origins] : false,
        methods: METHODS,
        exposedHeaders: EXPOSED,
        maxAge: MAX_AGE_SECONDS,
        // Without the header that makes it a preflight, an OPTIONS request is one of a method that no path has.
        preflight:
          request.headers['access-control-request-method'] !== undefined && routes.of(pathOf(request)).length > 0,
      });
    },
  });
}
