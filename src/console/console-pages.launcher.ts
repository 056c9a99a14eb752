import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorEnvelope } from '../plumbing/errors/envelope';
import { messageFor, MESSAGES } from '../plumbing/errors/messages';

/** Where `console/build.mjs` writes to, beside what the compiler writes. */
const FOLDER = join(__dirname, '..', '..', 'console');

/** Nothing but what comes from here runs, and no text becomes a script or a page. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
  ...["form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'"],
  ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
].join('; ');
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'clipboard-write=(self)',
};

/** More than any screen has: the page grows with the depth of its path. */
const MAX_DEPTH = 10;

/** Serves the console, and leads there from the root. Everything that it does is the documented API with the user's token. */
export function serveConsole(server: FastifyInstance, folder = FOLDER): void {
  // Relative: it holds behind a prefix of a proxy too.
  const lead = async (_request: FastifyRequest, reply: FastifyReply) => reply.redirect('console/', 303);
  const show = showPage(join(folder, 'index.html'));
  server.get('/', lead);
  server.get('/console', lead);
  server.get('/console/', show);
  server.get('/console/*', show);
  if (!existsSync(folder)) return;
  void server.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/console/assets/',
    // A route for each file: what is not there is not looked for.
    ...{ wildcard: false, index: false, decorateReply: false },
    // Each name has a hash of what is in the file.
    ...{ preCompressed: true, immutable: true, maxAge: '1y' },
  });
}

/**
 * Serves one page at every path of up to ten parts: the page itself knows which screen it shows. Returns 503 when this build has
 * no console.
 */
function showPage(file: string) {
  const page = existsSync(file) ? readFileSync(file, 'utf8') : null;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    if (page === null) return reply.status(503).send(errorEnvelope(MESSAGES.consoleNotBuilt));
    const depth = path.split('/').length - 3;
    // A file that a page of another version requests must not come as a page.
    if (path.startsWith('/console/assets/') || depth >= MAX_DEPTH)
      return reply.status(404).send(errorEnvelope(messageFor.noRoute(request.method, path)));
    // The way to the assets is said from the page: a prefix of a proxy is not known here.
    const base = '../'.repeat(depth) || './';
    return reply.headers(HEADERS).send(page.replaceAll('%BASE%', base));
  };
}
