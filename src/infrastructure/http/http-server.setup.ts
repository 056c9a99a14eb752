import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Config } from '../config/config';
import { ApiError } from '../errors/api-error';
import { messageFor, MESSAGES, noRoute } from '../errors/messages';
import { errorEnvelope } from '../errors/envelope';
import { isApiRoute } from './api-route';
import { allowOrigins } from './cors.setup';
import { wrapAnswers } from './envelope.setup';
import { logDestination } from './log-destination.client';
import { type BodyRule, registerJsonParser } from './json-body.setup';
import { hideInSpans } from './request-span.setup';
import { RouteMethods } from './route-methods';
import { SECURITY_HEADERS } from './security-headers.setup';
import { type DrainBounds, drainUnreadBodies } from './unread-body.setup';

/** How long a client may take, and how much of an unneeded body is read. */
export interface ConnectionLimits extends DrainBounds {
  requestArrivesWithinMs: number;
  idleMs: number;
  /** Longer than a test delivery may take, whose caller waits for the receiver's response. */
  silentMs: number;
  /** How often Node checks for requests that take too long. */
  checkEveryMs: number;
}

const CONNECTION_LIMITS: ConnectionLimits = {
  requestArrivesWithinMs: 30_000,
  idleMs: 65_000,
  silentMs: 75_000,
  checkEveryMs: 5000,
  drainBytes: 16_777_216,
  drainMs: 5000,
};
const SANE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Creates the Fastify server for Nest: limits, request ids, one log line per request, error responses outside Nest. */
export function createAdapter(config: Config, limits: ConnectionLimits = CONNECTION_LIMITS): FastifyAdapter {
  const adapter = new FastifyAdapter({
    logger: {
      level: config.logLevel,
      stream: logDestination,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      base: undefined,
    },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    trustProxy: config.trustedProxies.length > 0 && [...config.trustedProxies],
    http: {
      connectionsCheckingInterval: limits.checkEveryMs,
      headersTimeout: limits.requestArrivesWithinMs,
      // Node's own response would have no envelope.
      requireHostHeader: false,
    },
    requestTimeout: limits.requestArrivesWithinMs,
    connectionTimeout: limits.silentMs,
    keepAliveTimeout: limits.idleMs,
    return503OnClosing: false,
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
  });
  const server = adapter.getInstance<FastifyInstance>();
  hideInSpans(server);
  registerJsonParser(server, config);
  drainUnreadBodies(server, limits);
  wrapAnswers(server);
  addHooks(server, config);
  // Node's own response would have no envelope. `Expect` is validated with the other headers.
  server.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.server.emit('request', request, response),
  );
  // Node would close the connection without a response.
  server.server.on('connect', (_: IncomingMessage, socket: Socket) => answerClientError(new Error('no proxy'), socket));
  return adapter;
}

function requestIdOf(request: { headers: Record<string, string | string[] | undefined> }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

function addHooks(server: FastifyInstance, config: Config): void {
  const isServed = (url: string) => config.role !== 'worker' || url.startsWith('/health/');
  const known = new RouteMethods();
  server.addHook('onRoute', ({ url, method }) => {
    // `*` is the route of preflights, which are answered before it.
    if (isServed(url) && url !== '*') known.add(url, [method].flat());
  });
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id);
    if (isApiRoute(request.url)) reply.headers(apiHeadersOf(request));
    done();
  });
  if (config.corsOrigins.length > 0) allowOrigins(server, config.corsOrigins, known);
  server.after(() => rejectRequests(server, known, isServed));
  server.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime),
        userId: (request as { user?: { userId: string } }).user?.userId,
      },
      'request',
    );
    done();
  });
}

/** Rejects requests before their body is read. */
function rejectRequests(server: FastifyInstance, known: RouteMethods, isServed: (url: string) => boolean): void {
  server.addHook('onRequest', (request, _, done) => {
    const refusal = refusalOf(request.raw);
    if (refusal) return done(refusal);
    const path = request.url.split('?', 1)[0] ?? '';
    const isRouted = !request.is404 && request.routeOptions.url !== '*';
    if (isServed(request.url) && isRouted && !known.isForeign(path, request.method)) return done();
    const methods = known.of(path);
    // Nest would first read the body and report errors in it.
    if (methods.length === 0) return done(noRoute(request.method, path));
    const message = messageFor.noMethod(request.method, path, methods);
    return done(new ApiError('method_not_allowed', message, { headers: { allow: methods.join(', ') } }));
  });
}

/** No answer of the API may be cached: some contain secrets. */
function apiHeadersOf({ raw, routeOptions }: FastifyRequest): Record<string, string> {
  const { body } = (routeOptions.config ?? {}) as BodyRule;
  const isIgnored = raw.headers['idempotency-key'] !== undefined && body !== 'event';
  return { 'cache-control': 'no-store', ...(isIgnored && { 'idempotency-key-ignored': 'true' }) };
}

/** Checks what RFC 9112 (section 3.2) and RFC 9110 (section 10.1.1) require a server to reject. */
function refusalOf({ rawHeaders, headers, httpVersionMinor }: IncomingMessage): ApiError | null {
  const hosts = rawHeaders.filter(
    (text, i) => i % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host',
  ).length;
  if (hosts > 1 || (hosts === 0 && httpVersionMinor > 0)) return new ApiError('malformed_request', MESSAGES.badHost);
  const { expect } = headers;
  return expect === undefined || expect.toLowerCase() === '100-continue'
    ? null
    : new ApiError('expectation_unknown', MESSAGES.unknownExpectation);
}

/** Errors of Fastify's router, before any hook: a URL that cannot be decoded, or a parameter over 100 characters. */
function answerFrameworkError(error: { code: string }, request: FastifyRequest, reply: FastifyReply): void {
  const answer =
    error.code === 'FST_ERR_BAD_URL'
      ? new ApiError('malformed_request', MESSAGES.malformedUrl)
      : noRoute(request.method, 'with so long a parameter');
  void reply
    .headers({ 'x-request-id': request.id, 'cache-control': 'no-store' })
    .status(answer.status)
    .send(errorEnvelope(answer, request.id));
}

const CLIENT_ERRORS: Record<string, ApiError> = {
  HPE_HEADER_OVERFLOW: new ApiError('headers_too_large', MESSAGES.headersTooLarge),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError('request_timeout', MESSAGES.requestTimeout),
};
const MALFORMED_HTTP = new ApiError('malformed_request', MESSAGES.malformedHttp);

/** Input that Node's parser rejects never becomes a request, so the response is written directly to the socket. */
function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  // Invalid bytes after a complete request must not be answered in its place. Errors inside one are answered at once.
  const underWay = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage;
  if (underWay?.req.complete) return void underWay.once('close', () => socket.destroy());
  const answer = CLIENT_ERRORS[error.code ?? ''] ?? MALFORMED_HTTP;
  const requestId = randomUUID();
  const body = JSON.stringify(errorEnvelope(answer, requestId));
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
