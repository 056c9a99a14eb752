import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, errorEnvelope, MESSAGES, noRoute } from '../infrastructure/errors/api-error';
import { accentStyles } from './accent';

/** Output folder of `console/build.mjs`, next to the output of the compiler. */
const FOLDER = join(__dirname, '..', '..', 'console');

export interface ConsoleOptions {
  /** Origins whose pages may show the console in a frame; empty: none. */
  readonly consoleFrameAncestors: readonly string[];
  readonly consoleName: string;
  /** `#rrggbb`; null: the console's own. */
  readonly consoleAccent: string | null;
}

/** Allows only content from this origin, and never lets text become a script or a page. */
const policyOf = (ancestors: readonly string[]): string =>
  [
    ...[
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
    ],
    ...["form-action 'none'", "base-uri 'none'", `frame-ancestors ${ancestors.join(' ') || "'none'"}`],
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
  ].join('; ');

const headersOf = (ancestors: readonly string[]) => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': policyOf(ancestors),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'clipboard-write=(self)',
});

/** More than any screen needs. Limits the size of the page, which grows with the depth of its path. */
const MAX_DEPTH = 10;

/** Serves the console and redirects the root to it. The console uses only the documented API with the user's token. */
export function serveConsole(server: FastifyInstance, options: ConsoleOptions, folder = FOLDER): void {
  // A relative redirect also works behind a proxy's prefix.
  const lead = async (_request: FastifyRequest, reply: FastifyReply) => reply.redirect('console/', 303);
  const show = showPage(join(folder, 'index.html'), options);
  server.get('/', lead);
  server.get('/console', lead);
  server.get('/console/', show);
  if (options.consoleAccent !== null) serveStyles(server, accentStyles(options.consoleAccent));
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

/** Serves one page at every path of up to ten parts; 503 if this build has no console. */
function showPage(file: string, options: ConsoleOptions) {
  const page = existsSync(file) ? completed(readFileSync(file, 'utf8'), options) : null;
  const { consoleFrameAncestors: ancestors } = options;
  const headers = headersOf(ancestors);
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const refuse = (error: ApiError) => reply.status(error.status).send(errorEnvelope(error, request.id));
    if (page === null) return refuse(new ApiError('console_not_built', MESSAGES.consoleNotBuilt));
    const depth = path.split('/').length - 3;
    // A page of another version may request a missing file: return 404, not a page.
    if (path.startsWith('/console/assets/') || depth >= MAX_DEPTH) return refuse(noRoute(request.method, path));
    // Asset URLs are relative to the page, because a proxy's prefix is unknown here.
    const base = '../'.repeat(depth) || './';
    // It names no origins: the policy is the one that does.
    if (ancestors.length > 0) reply.removeHeader('x-frame-options');
    return reply.headers(headers).send(page.replaceAll('%BASE%', base));
  };
}

function completed(page: string, { consoleFrameAncestors, consoleName, consoleAccent }: ConsoleOptions): string {
  const values: Record<string, string> = {
    '%NAME%': escaped(consoleName),
    '%ANCESTORS%': consoleFrameAncestors.join(' '),
    '%ACCENT%': consoleAccent === null ? '' : '<link rel="stylesheet" href="%BASE%accent.css" />',
  };
  return page.replace(/%(NAME|ANCESTORS|ACCENT)%/g, (name) => values[name] as string);
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '%': '&#37;' };
const escaped = (text: string): string => text.replace(/[&<>"%]/g, (character) => ENTITIES[character] as string);

function serveStyles(server: FastifyInstance, styles: string): void {
  server.get('/console/accent.css', async (_request, reply) =>
    reply.headers({ 'content-type': 'text/css; charset=utf-8', 'cache-control': 'no-cache' }).send(styles),
  );
}
