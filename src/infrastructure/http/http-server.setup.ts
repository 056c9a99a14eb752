import { randomUUID } from 'node:crypto';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import cors from '@fastify/cors';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { trace } from '@opentelemetry/api';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import helmet from 'helmet';
import type { Config } from '../config/config';
import { ApiError, errorEnvelope, messageFor, MESSAGES, noRoute } from '../errors/api-error';
import { isApiRoute, RouteMethods } from './route-methods';
import { logDestination } from './logger.service';
import { type BodyRule, registerJsonParser } from './json-body.setup';
import { Page } from '../pagination/page';

/** How long a client may take, and how much of an unneeded body is read. */
export interface ConnectionLimits extends DrainBounds {
  requestArrivesWithinMs: number;
  idleMs: number;
  /** Longer than a test delivery may take, whose caller waits for the receiver's response. */
  silentMs: number;
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
  inviteBodies(server);
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

/** A proxy that compresses an answer makes its etag weak, which `if-match` never accepts. */
const NO_STORE = 'no-store, no-transform';

/** No answer of the API may be cached: some contain secrets. */
function apiHeadersOf({ raw, routeOptions }: FastifyRequest): Record<string, string> {
  const { body } = (routeOptions.config ?? {}) as BodyRule;
  const isIgnored = raw.headers['idempotency-key'] !== undefined && body !== 'event';
  return { 'cache-control': NO_STORE, ...(isIgnored && { 'idempotency-key-ignored': 'true' }) };
}

/** Checks what RFC 9112 (section 3.2) and RFC 9110 (sections 10.1.1 and 15.5.16) require a server to reject. */
function refusalOf({ method, rawHeaders, headers, httpVersionMinor }: IncomingMessage): ApiError | null {
  const hosts = rawHeaders.filter(
    (text, i) => i % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host',
  ).length;
  if (hosts > 1 || (hosts === 0 && httpVersionMinor > 0)) return new ApiError('malformed_request', MESSAGES.badHost);
  const { expect, 'content-encoding': coding = 'identity' } = headers;
  if (!/^\s*(identity)?\s*$/i.test(coding) && method !== 'GET' && hasBody(headers)) return ENCODED_BODY;
  return expect === undefined || expect.toLowerCase() === '100-continue'
    ? null
    : new ApiError('expectation_unknown', MESSAGES.unknownExpectation);
}

const ENCODED_BODY = new ApiError('unsupported_media_type', MESSAGES.encodedBody, {
  headers: { 'accept-encoding': 'identity' },
});

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;

/** Invites a body that was announced with `Expect: 100-continue`, unless its length is over the limit: then 413 is the answer. */
function inviteBodies(server: FastifyInstance): void {
  server.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    server.server.emit('request', request, response),
  );
  server.addHook('preParsing', ({ raw, routeOptions }, reply, _payload, done) => {
    if (isInvited(raw) || Number(raw.headers['content-length']) > routeOptions.bodyLimit) return done();
    invited.add(raw);
    reply.raw.writeContinue();
    done();
  });
}

const invited = new WeakSet<IncomingMessage>();
const isInvited = (request: IncomingMessage): boolean => request.headers.expect === undefined || invited.has(request);

/** Errors of Fastify's router, before any hook: a URL that cannot be decoded, or a parameter over 100 characters. */
function answerFrameworkError(error: { code: string }, request: FastifyRequest, reply: FastifyReply): void {
  const answer =
    error.code === 'FST_ERR_BAD_URL'
      ? new ApiError('malformed_request', MESSAGES.malformedUrl)
      : noRoute(request.method, 'with a parameter of this length');
  void reply
    .headers({ 'x-request-id': request.id, 'cache-control': NO_STORE })
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

/**
 * Wraps the return value of a controller under `/api`: `{ success: true, data }`, with `nextCursor` for a page.
 * `ApiExceptionFilter` writes the envelope of errors. A hook of the server, because Nest's interceptors cost every request a chain
 * of observables.
 */
function wrapAnswers(server: FastifyInstance): void {
  server.addHook('preSerialization', (request, reply, payload, done) => {
    done(null, isApiRoute(request.routeOptions.url) && reply.statusCode < 400 ? envelope(payload) : payload);
  });
}

function envelope(data: unknown): object {
  if (data instanceof Page) return { success: true, data: data.items, nextCursor: data.nextCursor };
  return { success: true, data };
}

/** One policy for all responses. The API loads nothing; Swagger UI loads only from here, and has styles in its page. */
const setSecurityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  xFrameOptions: { action: 'deny' },
  // The service uses plain HTTP. The TLS proxy knows the domain and sets this header.
  strictTransportSecurity: false,
});

/** Security headers of every response, by name. They never change, so helmet runs only once. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = securityHeaders();

function securityHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  const answer: Partial<ServerResponse> = {
    setHeader: (name, value) => {
      headers[name.toLowerCase()] = String(value);
      return answer as ServerResponse;
    },
    removeHeader: () => undefined,
  };
  setSecurityHeaders({} as IncomingMessage, answer as ServerResponse, () => undefined);
  return headers;
}

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
function allowOrigins(server: FastifyInstance, origins: readonly string[], routes: RouteMethods): void {
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

/** The attributes of a request that its sender chooses, by the semantic conventions of HTTP, also by the old ones. */
const SENT = [
  ...['url.path', 'url.query', 'user_agent.original', 'client.address', 'server.address'],
  ...['http.target', 'http.url', 'http.user_agent', 'http.client_ip', 'http.host', 'net.host.name'],
];
const HIDDEN = Object.fromEntries(SENT.map((name) => [name, '']));

/** Hides ids and texts of users in the spans of instrumentations, which get the name of the route instead. */
function hideInSpans(server: FastifyInstance): void {
  server.server.prependListener('request', () => void trace.getActiveSpan()?.setAttributes(HIDDEN));
  server.addHook('onRequest', (request, _, done) => {
    const { url } = request.routeOptions;
    if (url !== undefined)
      trace.getActiveSpan()?.setAttribute('http.route', url).updateName(`${request.method} ${url}`);
    done();
  });
}

interface DrainBounds {
  drainBytes: number;
  drainMs: number;
}

/**
 * Reads and drops the rest of a body whose response, such as a 413, is ready early. Closing a connection while its
 * client writes resets it, and the client never sees the response. That happens only beyond the limits.
 */
function drainUnreadBodies(server: FastifyInstance, bounds: DrainBounds): void {
  server.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (!hasBody(raw.headers) || raw.complete || raw.destroyed) return done();
    if (!isInvited(raw)) {
      reply.header('connection', 'close');
      return done();
    }
    return void drain(raw, bounds).then(() => {
      if (!raw.complete) reply.header('connection', 'close');
      done();
    });
  });
}

function drain(request: IncomingMessage, { drainBytes, drainMs }: DrainBounds): Promise<void> {
  return new Promise((resolve) => {
    let left = drainBytes;
    const finish = () => {
      clearTimeout(timer);
      request.off('data', drop).off('end', finish).off('close', finish).off('error', finish);
      if (!request.complete) request.pause();
      resolve();
    };
    const drop = (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) finish();
    };
    const timer = setTimeout(finish, drainMs);
    request.on('data', drop).on('end', finish).on('close', finish).on('error', finish).resume();
  });
}

/** Longer than a request is on its way from a proxy. */
const LINGER_MS = 200;

/**
 * Stops accepting connections at once, and keeps idle ones for 200 ms: a proxy may already have sent a request on one of them, and
 * reports an error if it is closed, because it must not repeat a POST. Call it before anything else begins to close: the first
 * answer that ends its connection makes the proxy open another one, which would be reset.
 */
export function stopAccepting(server: Server): void {
  const [close, closeIdleConnections] = [server.close.bind(server), server.closeIdleConnections.bind(server)];
  server.closeIdleConnections = () => void setTimeout(closeIdleConnections, LINGER_MS).unref();
  close();
  // Without the error that it is closed already. It waits for all connections, as the first call does.
  server.close = (done) => close(() => done?.());
}
