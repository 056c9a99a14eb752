import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../infrastructure/errors/api-error';
import { errorEnvelope } from '../infrastructure/errors/envelope';
import { MESSAGES, noRoute } from '../infrastructure/errors/messages';

/** Output folder of `console/build.mjs`, next to the output of the compiler. */
const FOLDER = join(__dirname, '..', '..', 'console');

/** Allows only content from this origin, and never lets text become a script or a page. */
const POLICY = [
  ...[
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
  ],
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

/** More than any screen needs. Limits the size of the page, which grows with the depth of its path. */
const MAX_DEPTH = 10;

/** Serves the console and redirects the root to it. The console uses only the documented API with the user's token. */
export function serveConsole(server: FastifyInstance, folder = FOLDER): void {
  // A relative redirect also works behind a proxy's prefix.
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
    // One route per file, so that requests for missing files never reach the disk.
    ...{ wildcard: false, index: false, decorateReply: false },
    // File names contain a hash of the content.
    ...{ preCompressed: true, immutable: true, maxAge: '1y' },
  });
}

/**
 * Serves one page at every path of up to ten parts; the page selects its screen. Returns 503 if this build has no
 * console.
 */
function showPage(file: string) {
  const page = existsSync(file) ? readFileSync(file, 'utf8') : null;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const refuse = (error: ApiError) => reply.status(error.status).send(errorEnvelope(error, request.id));
    if (page === null) return refuse(new ApiError('console_not_built', MESSAGES.consoleNotBuilt));
    const depth = path.split('/').length - 3;
    // A page of another version may request a missing file: return 404, not a page.
    if (path.startsWith('/console/assets/') || depth >= MAX_DEPTH) return refuse(noRoute(request.method, path));
    // Asset URLs are relative to the page, because a proxy's prefix is unknown here.
    const base = '../'.repeat(depth) || './';
    return reply.headers(HEADERS).send(page.replaceAll('%BASE%', base));
  };
}
