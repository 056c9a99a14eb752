import { exchange } from '../../support/api';
import { useService } from '../../support/service';
import { EVENT_NAMES } from '../stage/examples';

interface Response {
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, unknown>;
}

interface Operation {
  summary?: string;
  tags?: string[];
  security?: Record<string, unknown>[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, Response | { $ref: string }>;
  parameters?: { name: string; in: string; description?: string }[];
}

interface Schema {
  properties?: Record<string, { description?: string; $ref?: string }>;
  additionalProperties?: boolean;
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, unknown>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    securitySchemes: Record<string, { type: string; scheme?: string }>;
  };
}

/** What every route can answer. */
const ANYWHERE = [400, 401, 408, 417, 429, 431, 500, 503];

/** Each route with every other status that it can answer. */
const ROUTES: [string, string, number[]][] = [
  ['get', '/api/me', [200]],
  ['get', '/api/about', [200]],
  ['post', '/api/tokens', [201, 403, 409, 413, 415]],
  ['get', '/api/tokens', [200, 403]],
  ['delete', '/api/tokens/{id}', [200, 403, 404, 413, 415]],
  ['post', '/api/webhooks', [201, 403, 409, 413, 415]],
  ['get', '/api/webhooks', [200, 403]],
  ['get', '/api/webhooks/{id}', [200, 403, 404]],
  ['patch', '/api/webhooks/{id}', [200, 403, 404, 413, 415]],
  ['delete', '/api/webhooks/{id}', [200, 403, 404, 413, 415]],
  ['post', '/api/webhooks/{id}/rotate-secret', [200, 403, 404, 413, 415]],
  ['post', '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver', [200, 202, 403, 404, 409, 413, 415]],
  ['post', '/api/webhooks/{id}/recover', [200, 202, 403, 404, 409, 413, 415]],
  ['get', '/api/webhooks/{id}/recoveries/{recoveryId}', [200, 403, 404]],
  ['get', '/api/deliveries', [200, 403]],
  ['get', '/api/deliveries/{deliveryId}', [200, 403, 404]],
  ['post', '/api/events/batch', [202, 403, 409, 413, 415]],
  ['post', '/api/webhooks/{id}/test', [200, 403, 404, 409, 413, 415]],
  ['get', '/api/webhooks/{id}/deliveries', [200, 403, 404]],
  ['get', '/api/webhooks/{id}/deliveries/{deliveryId}', [200, 403, 404]],
  ['post', '/api/events', [202, 403, 409, 413, 415]],
  ['get', '/api/events', [200, 403]],
  ['get', '/api/events/{id}', [200, 403, 404]],
  ['post', '/api/accounts', [201, 403, 409, 413, 415]],
  ['get', '/api/accounts', [200, 403]],
  ['get', '/api/accounts/{id}', [200, 403, 404]],
  ['delete', '/api/accounts/{id}', [200, 403, 404, 413, 415]],
  ['put', '/api/accounts/{id}/followers', [200, 403, 404, 409, 413, 415]],
  ['get', '/api/event-types', [200]],
  ['get', '/api/stats', [200, 403, 404]],
  ['post', '/api/console-links', [201, 403, 413, 415]],
  ['post', '/api/console-sessions', [201, 409, 413, 415]],
  ['delete', '/api/console-sessions', [200, 409, 413, 415]],
  ['post', '/api/try-receivers', [200, 201, 403, 404, 409, 413, 415]],
  ['get', '/api/try-receivers/{id}', [200, 403, 404]],
  ['patch', '/api/try-receivers/{id}', [200, 403, 404, 413, 415]],
];

/** The one operation under /api that needs no token: where the body has a code. */
const OPEN = 'post /api/console-sessions';

describe('The OpenAPI document', () => {
  const service = useService();
  let document: Document;

  beforeAll(async () => {
    const { headers, text } = await exchange(service.url, 'GET', '/docs/openapi.json');
    expect(headers['content-type']).toMatch(/^application\/json/);
    document = JSON.parse(text) as Document;
  });

  it('is OpenAPI 3.1', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  it.each(ROUTES)('names %s %s and every status that it can answer', (method, path, statuses) => {
    const operation = document.paths[path]?.[method];
    expect(operation?.summary).toMatch(/\w+/);
    const documented = Object.keys(operation?.responses ?? {}).map(Number);
    expect(documented.sort()).toEqual([...statuses, ...ANYWHERE].sort());
    for (const response of Object.values(operation?.responses ?? {})) {
      const { description, content, headers } =
        '$ref' in response ? document.components.responses[response.$ref.split('/').at(-1)!]! : response;
      expect(description).toMatch(/\w+/);
      expect(content).toHaveProperty(['application/json']);
      expect(headers).toHaveProperty(['x-request-id']);
    }
  });

  it('describes every parameter and every field', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
    );
    const parameters = operations.flatMap(({ name, operation }) =>
      (operation.parameters ?? []).filter(({ description }) => !description).map((one) => `${name}: ${one.name}`),
    );
    const fields = Object.entries(document.components.schemas).flatMap(([schema, { properties = {} }]) =>
      Object.entries(properties)
        .filter(([, property]) => !property.description && !property.$ref)
        .map(([field]) => `${schema}.${field}`),
    );
    expect({ parameters, fields }).toEqual({ parameters: [], fields: [] });
  });

  it('closes every request body', () => {
    const bodies = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ requestBody }) => requestBody),
    );
    const names = JSON.stringify(bodies).match(/(?<=#\/components\/schemas\/)\w+/g) ?? [];
    const open = [...new Set(names)].filter(
      (name) => document.components.schemas[name]?.additionalProperties !== false,
    );
    expect({ count: new Set(names).size, open }).toEqual({ count: 15, open: [] });
  });

  it('asks for a bearer token on every route under /api, except for the code of a link, and on no other', () => {
    const schemes = Object.values(document.components.securitySchemes);
    expect(schemes).toContainEqual(expect.objectContaining({ type: 'http', scheme: 'bearer' }));
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { security = [] }] of Object.entries(methods)) {
        const name = `${method} ${path}`;
        const expected = path.startsWith('/api') ? [{ bearer: [] }, ...(name === OPEN ? [{}] : [])] : [];
        expect({ name, security }).toEqual({ name, security: expected });
      }
    }
  });

  it('shows the outgoing events under webhooks', () => {
    expect(Object.keys(document.webhooks)).toEqual(expect.arrayContaining(EVENT_NAMES));
  });

  it('refers only to schemas that it has', () => {
    const references = JSON.stringify(document).match(/#\/components\/schemas\/[^"]+/g) ?? [];
    expect(references.length).toBeGreaterThan(0);
    const missing = references.filter((reference) => !(reference.split('/').at(-1)! in document.components.schemas));
    expect(missing).toEqual([]);
  });

  it('can be tried in Swagger UI at /docs, with its scripts', async () => {
    const page = await exchange(service.url, 'GET', '/docs');
    expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/html/)]);
    const scripts = [...page.text.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, source]) => source!);
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) {
      const { pathname } = new URL(script, `${service.url}/docs`);
      expect({ pathname, status: (await exchange(service.url, 'GET', pathname)).status }).toMatchObject({
        status: 200,
      });
    }
  });

  it.each(['/health/live', '/health/ready'])('is beside %s, which answers 200 to everybody', async (path) => {
    const { status, headers, text } = await exchange(service.url, 'GET', path);
    expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(/^application\/json/)]);
    expect(text).not.toMatch(/127\.0\.0\.1|postgres:\/\//);
  });
});
