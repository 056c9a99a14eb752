import { trace } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';

/** The attributes of a request that its sender chooses, by the semantic conventions of HTTP, also by the old ones. */
const SENT = [
  ...['url.path', 'url.query', 'user_agent.original', 'client.address', 'server.address'],
  ...['http.target', 'http.url', 'http.user_agent', 'http.client_ip', 'http.host', 'net.host.name'],
];
const HIDDEN = Object.fromEntries(SENT.map((name) => [name, '']));

/** Hides ids and texts of users in the spans of instrumentations, which get the name of the route instead. */
export function hideInSpans(server: FastifyInstance): void {
  server.server.prependListener('request', () => void trace.getActiveSpan()?.setAttributes(HIDDEN));
  server.addHook('onRequest', (request, _, done) => {
    const { url } = request.routeOptions;
    if (url !== undefined) {
      trace.getActiveSpan()?.setAttribute('http.route', url).updateName(`${request.method} ${url}`);
    }
    done();
  });
}
