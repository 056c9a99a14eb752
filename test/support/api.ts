import { type IncomingHttpHeaders, request } from 'node:http';
import { ERROR_STATUSES } from './error-codes';

// The wire types of the contract, written down a second time on purpose: nothing here comes from src.

export interface Webhook {
  id: string;
  kind: 'push' | 'pull';
  /** Null only if `kind` is `pull`; most tests have none. */
  url: string;
  events: string[];
  description: string | null;
  metadata: Record<string, string>;
  externalId: string | null;
  filter: Record<string, unknown> | null;
  format: string;
  fields: string[] | null;
  headers: Record<string, string>;
  timeoutMs: number | null;
  retryDelaysMs: number[] | null;
  maxPerSecond: number | null;
  idleSeconds: number | null;
  lastLeasedAt: string | null;
  lastLeasedBy: string | null;
  active: boolean;
  disabledReason: string | null;
  disabledAt: string | null;
  consecutiveFailures: number;
  disablesAt: string | null;
  lastSuccessAt: string | null;
  lastFailureAt: string | null;
  /** With `include=stats` only. */
  stats?: Stats & {
    pending: number;
    nextDueAt: string | null;
    lastDeliveryAt: string | null;
    failingSince: string | null;
    health: string;
  };
  secretRotatedAt: string | null;
  previousSecretExpiresAt: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface AttemptNumbers {
  succeeded: number;
  failed: number;
  canceled: number;
  p50Ms: number | null;
  p95Ms: number | null;
  byError: Record<string, number>;
}

export interface Stats {
  steps: (AttemptNumbers & { from: string })[];
  totals: AttemptNumbers;
}

export interface CreatedWebhook extends Webhook {
  secret: string;
  standardSecret: string;
}

export interface Delivery {
  id: string;
  webhookId: string;
  eventId: string;
  event: string;
  subject: string | null;
  attempt: number;
  trigger: 'event' | 'redelivery' | 'test';
  status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  waitsFor: 'backoff' | 'slot' | 'rate' | 'proxy' | 'dns' | 'operator' | 'consumer' | null;
  url: string;
  responseStatus: number | null;
  durationMs: number | null;
  error: { code: string; message: string } | null;
  scheduledAt: string;
  attemptedAt: string | null;
  completedAt: string | null;
  nextAttemptAt: string | null;
  createdAt: string;
}

type RecordedHeaders = Record<string, string | string[]>;

export interface DeliveryDetail extends Delivery {
  request: { headers: RecordedHeaders; body: string; format?: string } | null;
  response: { headers: RecordedHeaders; body: string; bodyTruncated: boolean } | null;
}

export interface Message {
  leaseId: string;
  deliveryId: string;
  expiresAt: string;
  headers: Record<string, string>;
  body: string;
}

export interface Acknowledged {
  succeeded: string[];
  failed: string[];
  expired: string[];
}

export interface RotatedSecret {
  secret: string;
  standardSecret: string;
  previousSecretExpiresAt: string;
}

export interface Recovery {
  id: string;
  status: 'running' | 'done';
  /** Null until it is known. */
  count: number | null;
  queued: number;
  createdAt: string;
  completedAt: string | null;
}

export interface Erasure {
  id: string;
  status: 'running' | 'done';
  requestedBy: string | null;
  createdAt: string;
  completedAt: string | null;
  counts: Record<string, number>;
}

export interface PublishedEvent {
  id: string;
  event: string;
  createdAt: string;
  userId: string | null;
  duplicate: boolean;
}

export interface EventRecord {
  id: string;
  event: string;
  subject: string | null;
  userId: string | null;
  publishedBy: string | null;
  traceparent: string | null;
  createdAt: string;
  data: Record<string, unknown>;
  fannedOutAt: string | null;
}

export interface EventDetail extends EventRecord {
  deliveries: Delivery[];
}

export interface EventType {
  name: string;
  description: string;
  schema: Record<string, unknown>;
  example: Record<string, unknown>;
  source: 'builtin' | 'setting' | 'module' | 'api';
  application: string | null;
}

export interface Account {
  id: string;
  provider: 'mastodon' | 'bluesky' | 'push';
  handle: string;
  intervalSeconds: number;
  followersCount: number | null;
  lastReadAt: string | null;
  lastError: string | null;
  createdAt: string;
}

export interface FollowersChange {
  followersCount: number;
  gained: number;
  lost: number;
}

export interface Me {
  tokenId: string | null;
  userId: string;
  scopes: string[];
  expiresAt: string | null;
}

export interface AccessToken {
  id: string;
  name: string;
  userId: string;
  scopes: string[];
  madeBy: string | null;
  session: boolean;
  expiresAt: string | null;
  createdAt: string;
  lastUsedAt: string | null;
}

export interface ConsoleLink {
  url: string;
  codeExpiresAt: string;
  expiresAt: string;
}

export interface ConsoleSession {
  token: string;
  userId: string;
  scopes: string[];
  expiresAt: string;
}

type TryAnswer = 200 | 500 | 410 | 'silent';

export interface TryReceiver {
  id: string;
  url: string;
  answer: TryAnswer;
  expiresAt: string;
}

export interface TriedRequest {
  receivedAt: string;
  headers: Record<string, string | string[]>;
  body: string;
  bodyTruncated: boolean;
  answer: TryAnswer;
}

export interface CreatedAccessToken extends AccessToken {
  token: string;
}

interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
}

export interface Success<T> extends Answered {
  success: true;
  data: T;
  /** Lists only. */
  nextCursor?: string | null;
}

export interface FieldError {
  field: string;
  code: string;
  message: string;
}

export interface Failure extends Answered {
  success: false;
  error: string;
  code: string;
  requestId: string;
  /** For `validation_failed` only. */
  details?: FieldError[];
}

export type Reply<T> = Success<T> | Failure;

/** A list repeats its name. */
export type Query = Record<string, string | number | boolean | string[] | undefined>;

export interface CallOptions {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  rawBody?: string | Buffer;
  /** Added to the default headers or replacing them; a list is sent as several headers of that name. */
  headers?: Record<string, string | string[] | undefined>;
  /** Aborts the call. */
  signal?: AbortSignal;
}

/** The service's API as one user sees it. Checks that every response is one of the two envelopes. */
export class Api {
  constructor(
    readonly url: string,
    private readonly token: string | null,
  ) {}

  withToken(token: string | null): Api {
    return new Api(this.url, token);
  }

  me = () => this.call<Me>('GET', '/api/me');

  about = () => this.call<Record<string, unknown>>('GET', '/api/about');

  createToken = (body: unknown) => this.call<CreatedAccessToken>('POST', '/api/tokens', { body });
  listTokens = (query?: Query) => this.call<AccessToken[]>('GET', '/api/tokens', { query });
  revokeToken = (id: string) => this.call<{ id: string }>('DELETE', `/api/tokens/${id}`);

  createConsoleLink = (body: unknown) => this.call<ConsoleLink>('POST', '/api/console-links', { body });
  beginSession = (body: unknown) => this.call<ConsoleSession>('POST', '/api/console-sessions', { body });
  endSession = () => this.call<{ id: string }>('DELETE', '/api/console-sessions');
  eraseUser = (userId: string, confirm: unknown = userId) =>
    this.call<Erasure>('DELETE', `/api/users/${userId}`, { body: { confirm } });
  listErasures = (query?: Query) => this.call<Erasure[]>('GET', '/api/erasures', { query });
  readErasure = (id: string) => this.call<Erasure>('GET', `/api/erasures/${id}`);

  createTryReceiver = () => this.call<TryReceiver>('POST', '/api/try-receivers');
  readTryReceiver = (id: string) =>
    this.call<TryReceiver & { requests: TriedRequest[] }>('GET', `/api/try-receivers/${id}`);
  updateTryReceiver = (id: string, body: unknown) =>
    this.call<TryReceiver>('PATCH', `/api/try-receivers/${id}`, { body });

  createWebhook = (body: unknown) => this.call<CreatedWebhook>('POST', '/api/webhooks', { body });
  listWebhooks = (query?: Query) => this.call<Webhook[]>('GET', '/api/webhooks', { query });
  readWebhook = (id: string, query?: Query) => this.call<Webhook>('GET', `/api/webhooks/${id}`, { query });
  updateWebhook = (id: string, body: unknown) => this.call<Webhook>('PATCH', `/api/webhooks/${id}`, { body });
  deleteWebhook = (id: string) => this.call<{ id: string }>('DELETE', `/api/webhooks/${id}`);
  saveWebhook = (externalId: string, body: unknown, headers?: CallOptions['headers']) =>
    this.call<Webhook & { secret?: string }>('PUT', `/api/webhooks/external/${externalId}`, { body, headers });
  readExternalWebhook = (externalId: string) => this.call<Webhook>('GET', `/api/webhooks/external/${externalId}`);
  deleteExternalWebhook = (externalId: string, headers?: CallOptions['headers']) =>
    this.call<{ id: string }>('DELETE', `/api/webhooks/external/${externalId}`, { headers });
  testWebhook = (id: string, body?: unknown) =>
    this.call<DeliveryDetail & { matchesFilter?: boolean }>('POST', `/api/webhooks/${id}/test`, { body });

  rotateSecret = (id: string, body?: unknown) =>
    this.call<RotatedSecret>('POST', `/api/webhooks/${id}/rotate-secret`, { body });

  lease = (id: string, body?: unknown, options: Pick<CallOptions, 'signal'> = {}) =>
    this.call<Message[]>('POST', `/api/webhooks/${id}/messages/lease`, { body, ...options });
  acknowledge = (id: string, body: unknown) =>
    this.call<Acknowledged>('POST', `/api/webhooks/${id}/messages/ack`, { body });

  listDeliveries = (id: string, query?: Query) =>
    this.call<Delivery[]>('GET', `/api/webhooks/${id}/deliveries`, { query });
  readDelivery = (id: string, deliveryId: string) =>
    this.call<DeliveryDetail>('GET', `/api/webhooks/${id}/deliveries/${deliveryId}`);

  listAllDeliveries = (query?: Query) => this.call<Delivery[]>('GET', '/api/deliveries', { query });
  countDeliveries = (query?: Query) =>
    this.call<{ count: number; atLeast: boolean }>('GET', '/api/deliveries/count', { query });
  readOwnDelivery = (deliveryId: string) => this.call<DeliveryDetail>('GET', `/api/deliveries/${deliveryId}`);
  stats = (query?: Query) => this.call<Stats>('GET', '/api/stats', { query });
  redeliver = (id: string, deliveryId: string) =>
    this.call<Delivery>('POST', `/api/webhooks/${id}/deliveries/${deliveryId}/redeliver`);
  recover = (id: string, body: unknown) => this.call<Recovery>('POST', `/api/webhooks/${id}/recover`, { body });
  listRecoveries = (id: string, query?: Query) =>
    this.call<Recovery[]>('GET', `/api/webhooks/${id}/recoveries`, { query });
  readRecovery = (id: string, recoveryId: string) =>
    this.call<Recovery>('GET', `/api/webhooks/${id}/recoveries/${recoveryId}`);

  publish = (body: unknown, headers?: CallOptions['headers']) =>
    this.call<PublishedEvent>('POST', '/api/events', { body, headers });
  publishBatch = (body: unknown) => this.call<PublishedEvent[]>('POST', '/api/events/batch', { body });
  listEvents = (query?: Query) => this.call<EventRecord[]>('GET', '/api/events', { query });
  readEvent = (id: string) => this.call<EventDetail>('GET', `/api/events/${id}`);
  eventTypes = () => this.call<EventType[]>('GET', '/api/event-types');
  createEventType = (body: unknown) => this.call<EventType>('POST', '/api/event-types', { body });
  saveEventType = (name: string, body: unknown, query?: Query) =>
    this.call<EventType>('PUT', `/api/event-types/${name}`, { body, query });
  deleteEventType = (name: string, query?: Query) =>
    this.call<{ name: string }>('DELETE', `/api/event-types/${name}`, { query });

  createAccount = (body: unknown) => this.call<Account>('POST', '/api/accounts', { body });
  listAccounts = (query?: Query) => this.call<Account[]>('GET', '/api/accounts', { query });
  readAccount = (id: string) => this.call<Account>('GET', `/api/accounts/${id}`);
  deleteAccount = (id: string) => this.call<{ id: string }>('DELETE', `/api/accounts/${id}`);
  putFollowers = (id: string, body: unknown) =>
    this.call<FollowersChange>('PUT', `/api/accounts/${id}/followers`, { body });

  async call<T>(method: string, path: string, options: CallOptions = {}): Promise<Reply<T>> {
    const authorization = this.token === null ? {} : { authorization: `Bearer ${this.token}` };
    const answer = await exchange(this.url, method, path, {
      ...options,
      headers: { ...authorization, ...options.headers },
    });
    return readEnvelope<T>(`${method} ${path}`, answer);
  }
}

/** Returns the data of a call that must succeed with the status. */
export async function dataOf<T>(pending: Promise<Reply<T>>, status = 200): Promise<T> {
  return (await succeeded(pending, status)).data;
}

/** Returns the error message of a call that must fail with the status, or with the code. */
export async function errorOf(pending: Promise<Reply<unknown>>, wanted: number | string): Promise<string> {
  const reply = await pending;
  if (!reply.success && [reply.status, reply.code].includes(wanted)) return reply.error;
  throw new Error(`Expected a refusal with ${wanted}, got ${describeReply(reply)}`);
}

/** Returns the invalid fields and their codes, such as `url: invalid`, of a call that must fail with 400. */
export async function invalidFieldsOf(pending: Promise<Reply<unknown>>): Promise<string[]> {
  const reply = await pending;
  if (!reply.success && reply.details) return reply.details.map(({ field, code }) => `${field}: ${code}`);
  throw new Error(`Expected a refusal with details, got ${describeReply(reply)}`);
}

/** One page of a list. */
export async function pageOf<T>(pending: Promise<Reply<T[]>>): Promise<{ rows: T[]; nextCursor: string | null }> {
  const reply = await succeeded(pending, 200);
  if (reply.nextCursor === undefined) throw new Error(`A list without nextCursor: ${describeReply(reply)}`);
  return { rows: reply.data, nextCursor: reply.nextCursor };
}

/** Follows the cursors of a list from the first page, or from the given cursor, to the end. */
export async function allPagesOf<T>(
  list: (query: Query) => Promise<Reply<T[]>>,
  query: Query = {},
  from?: string,
): Promise<T[][]> {
  const pages: T[][] = [];
  for (let cursor: string | null | undefined = from; cursor !== null;) {
    const page: { rows: T[]; nextCursor: string | null } = await pageOf(list({ ...query, cursor }));
    pages.push(page.rows);
    cursor = page.nextCursor;
  }
  return pages;
}

async function succeeded<T>(pending: Promise<Reply<T>>, status: number): Promise<Success<T>> {
  const reply = await pending;
  if (reply.success && reply.status === status) return reply;
  throw new Error(`Expected ${status}, got ${describeReply(reply)}`);
}

function describeReply({ status, headers, ...envelope }: Reply<unknown>): string {
  return `${status} ${JSON.stringify(envelope)} (request ${String(headers['x-request-id'])})`;
}

export interface RawAnswer extends Answered {
  text: string;
}

/** Sends one request exactly as given: node:http neither corrects the path nor merges headers. */
export function exchange(url: string, method: string, path: string, options: CallOptions = {}): Promise<RawAnswer> {
  const body = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const headers = Object.fromEntries(Object.entries(options.headers ?? {}).filter(([, value]) => value !== undefined));
  if (body !== undefined) {
    headers['content-length'] = String(Buffer.byteLength(body));
    if (!('content-type' in (options.headers ?? {}))) headers['content-type'] = 'application/json';
  }
  const { hostname, port } = new URL(url);
  const target = {
    hostname,
    port,
    method,
    path: path + queryString(options.query),
    agent: false,
    signal: options.signal,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...target, headers }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }));
      incoming.on('error', reject);
    });
    outgoing.on('error', reject).end(body);
  });
}

function queryString(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`),
  );
  return pairs.length > 0 ? `?${pairs.join('&')}` : '';
}

/**
 * The one place that knows the envelopes: `{success, data}`, `{success, data, nextCursor}` or
 * `{success, error, code, requestId, details}`. An error must have a code of the list, with the status of that code.
 */
export function readEnvelope<T>(what: string, { status, headers, text }: RawAnswer): Reply<T> {
  const complaint = (reason: string) => new Error(`${what} answered ${status} ${text.slice(0, 500)}: ${reason}`);
  if (!String(headers['content-type']).startsWith('application/json')) throw complaint('not JSON');
  if (!headers['x-request-id']) throw complaint('no x-request-id');
  const body = JSON.parse(text) as { data: T; nextCursor?: string | null } & Failure;
  const fields = Object.keys(body).sort().join();
  if (status < 400) {
    if ((body.success as boolean) !== true || !['data,success', 'data,nextCursor,success'].includes(fields)) {
      throw complaint('not the envelope of a success');
    }
    return { status, headers, success: true, data: body.data, nextCursor: body.nextCursor };
  }
  const { error, code, requestId, details } = body;
  const hasDetails = ['validation_failed', 'cursor_invalid'].includes(code);
  const wanted = hasDetails ? 'code,details,error,requestId,success' : 'code,error,requestId,success';
  if (body.success !== false || fields !== wanted) throw complaint('not the envelope of an error');
  if (typeof error !== 'string' || error.trim() === '') throw complaint('no sentence');
  if (ERROR_STATUSES[code] !== status) throw complaint('no code of this status');
  if (requestId !== headers['x-request-id']) throw complaint('another request id');
  if (details && (details.length === 0 || details.length > 20)) throw complaint('not 1 to 20 details');
  return { status, headers, success: false, error, code, requestId, ...(details && { details }) };
}
