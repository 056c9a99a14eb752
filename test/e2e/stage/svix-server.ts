import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A server of our own that answers as Svix documents it, with state: an application and its endpoints. It has no field but
// these, each with the place that documents it (svix/svix-webhooks, server/openapi.json, `components.schemas`; and the page
// of docs.svix.com that explains it):
//
// | request                                    | field                  | schema                       | page            |
// | ------------------------------------------ | ---------------------- | ---------------------------- | --------------- |
// | GET /api/v1/app/{app}                      | id, uid, name          | ApplicationOut               | /overview       |
// | GET /api/v1/app/{app}/endpoint             | data, iterator, done   | ListResponse_EndpointOut_    |                 |
// |   ?limit= 1..250, ?iterator=               |                        | parameters of the operation  |                 |
// |                                            | id, uid, url           | EndpointOut                  | /quickstart     |
// |                                            | description, metadata  | EndpointOut                  |                 |
// |                                            | disabled               | EndpointOut                  | /retries        |
// |                                            | filterTypes            | EndpointOut                  | /event-types    |
// |                                            | channels               | EndpointOut                  | /channels       |
// |                                            | rateLimit              | EndpointOut                  | /throttling     |
// |                                            | createdAt, updatedAt   | EndpointOut                  |                 |
// | GET …/endpoint/{endpoint}/secret           | key                    | EndpointSecretOut            | /receiving/…/how-manual |
// | GET …/endpoint/{endpoint}/headers          | headers, sensitive     | EndpointHeadersOut           |                 |
// | GET …/endpoint/{endpoint}/transformation   | code, enabled          | EndpointTransformationOut, of the client, as the open source server has no such route | /transformations |
// | errors                                     | code, detail           | HttpErrorOut                 |                 |
//
// The newer clients (npm svix 2.5, models/endpointOut) call filterTypes and rateLimit eventTypes and throttleRate:
// `newNames` does so too.

export interface FakeEndpoint {
  id: string;
  uid?: string;
  url: string;
  description?: string;
  disabled?: boolean;
  filterTypes?: string[];
  channels?: string[];
  rateLimit?: number;
  metadata?: Record<string, string>;
  secret: string;
  headers?: Record<string, string>;
  sensitive?: string[];
  transformation?: { code: string; enabled: boolean };
}

/** Answers a request in place of the server; false leaves it to the server. */
type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface SvixServer {
  readonly url: string;
  /** The application `app_1`, with the uid `shop`. Tests add, change and delete its endpoints. */
  readonly endpoints: Map<string, FakeEndpoint>;
  /** Paths that were requested, without their queries. */
  readonly requests: string[];
  newNames: boolean;
  fault: Fault | null;
}

export const SVIX_TOKEN = 'testsk_a-key-that-must-stay-hidden.eu';
const AT = '2026-11-20T10:00:00Z';

/** Svix on a free port for all tests of the file or describe block. */
export function useSvixServer(): SvixServer {
  const state = {
    url: '',
    endpoints: new Map(),
    requests: [] as string[],
    newNames: false,
    fault: null as Fault | null,
  };
  const server = createServer((request, response) => answer(state as SvixServer, request, response));
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    state.endpoints.clear();
    state.requests.length = 0;
    Object.assign(state, { newNames: false, fault: null });
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return state as SvixServer;
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): true {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  return true;
}

function answer(server: SvixServer, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://svix');
  server.requests.push(pathname);
  if (server.fault?.(request, response)) return;
  const error = (status: number, code: string) => json(response, status, { code, detail: code });
  if (request.headers.authorization !== `Bearer ${SVIX_TOKEN}`) return void error(401, 'authentication_failed');
  const [, app, list, id, part] =
    /^\/api\/v1\/app\/([^/]+)(?:\/(endpoint)(?:\/([^/]+)\/([a-z]+))?)?$/.exec(pathname) ?? [];
  if (app !== 'app_1' && app !== 'shop') return void error(404, 'not_found');
  if (list === undefined) return void json(response, 200, { id: 'app_1', uid: 'shop', name: 'Shop', ...times });
  if (id === undefined) return void json(response, 200, pageOf(server, searchParams));
  const endpoint = server.endpoints.get(decodeURIComponent(id));
  if (!endpoint) return void error(404, 'not_found');
  if (part === 'secret') return void json(response, 200, { key: endpoint.secret });
  if (part === 'headers')
    return void json(response, 200, { headers: endpoint.headers ?? {}, sensitive: endpoint.sensitive ?? [] });
  if (part === 'transformation' && endpoint.transformation) return void json(response, 200, endpoint.transformation);
  error(404, 'not_found');
}

const times = { createdAt: AT, updatedAt: AT, metadata: {} };

function pageOf(server: SvixServer, query: URLSearchParams): object {
  const all = [...server.endpoints.values()];
  const limit = Number(query.get('limit') ?? 50);
  const start = query.has('iterator') ? all.findIndex(({ id }) => id === query.get('iterator')) + 1 : 0;
  const page = all.slice(start, start + limit);
  return {
    data: page.map((each) => shownOf(each, server.newNames)),
    iterator: page.at(-1)?.id ?? null,
    done: start + limit >= all.length,
  };
}

function shownOf(
  { id, url, uid = undefined, description = '', disabled = false, metadata = {}, ...more }: FakeEndpoint,
  newNames: boolean,
) {
  const { filterTypes = null, channels = null, rateLimit = null } = more;
  const named = newNames ? { eventTypes: filterTypes, throttleRate: rateLimit } : { filterTypes, rateLimit };
  return { ...times, id, url, uid: uid ?? null, description, disabled, metadata, channels, version: 1, ...named };
}
