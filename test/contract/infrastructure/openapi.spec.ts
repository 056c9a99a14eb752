import { exchange } from '../../support/api';
import { ERROR_STATUSES } from '../../support/error-codes';
import { useService } from '../../support/service';
import { EVENT_NAMES, UNKNOWN_ID } from '../../e2e/stage/examples';
import { OPERATION_IDS, OUTGOING_IDS, SCHEMA_NAMES } from '../stage/openapi-names';

interface Response {
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, object>;
}

interface ErrorContent {
  schema: object;
  examples: Record<string, { value: object }>;
}

interface Operation {
  operationId: string;
  description?: string;
  'x-required-scope'?: string | string[];
  summary?: string;
  tags?: string[];
  security?: Record<string, unknown>[];
  requestBody?: { content: Record<string, { schema: object; examples?: Record<string, { value: unknown }> }> };
  responses: Record<string, Response | { $ref: string }>;
  parameters?: { name: string; in: string; description?: string; example?: unknown; schema?: Schema }[];
}

interface Schema {
  $ref?: string;
  description?: string;
  type?: unknown;
  example?: unknown;
  default?: unknown;
  enum?: unknown[];
  minimum?: number;
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean;
}

interface Document {
  openapi: string;
  info: { license?: object };
  servers: object[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    securitySchemes: Record<string, { type: string; scheme?: string }>;
  };
}

/** What every route can answer; `default` stands for malformed HTTP and for errors of the service. */
const ANYWHERE = ['401', '429', 'default'];

/** Each route with every other status that it can answer. */
const ROUTES: [string, string, number[]][] = [
  ['get', '/api/me', [200]],
  ['get', '/api/about', [200]],
  ['post', '/api/tokens', [201, 400, 403, 409, 413, 415]],
  ['get', '/api/tokens', [200, 400, 403]],
  ['delete', '/api/tokens/{id}', [200, 400, 403, 404, 413, 415]],
  ['post', '/api/webhooks', [201, 400, 403, 409, 413, 415]],
  ['get', '/api/webhooks', [200, 400, 403]],
  ['get', '/api/webhooks/{id}', [200, 400, 403, 404]],
  ['patch', '/api/webhooks/{id}', [200, 400, 403, 404, 409, 412, 413, 415]],
  ['delete', '/api/webhooks/{id}', [200, 400, 403, 404, 412, 413, 415]],
  ['put', '/api/webhooks/external/{externalId}', [200, 201, 400, 403, 409, 412, 413, 415]],
  ['post', '/api/filter-checks', [200, 400, 403, 404, 413, 415]],
  ['post', '/api/format-previews', [200, 400, 403, 404, 413, 415]],
  ['get', '/api/webhooks/external/{externalId}', [200, 400, 403, 404]],
  ['delete', '/api/webhooks/external/{externalId}', [200, 400, 403, 404, 412, 413, 415]],
  ['post', '/api/webhooks/{id}/rotate-secret', [200, 400, 403, 404, 409, 413, 415]],
  ['post', '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver', [200, 202, 400, 403, 404, 409, 413, 415]],
  ['post', '/api/webhooks/{id}/recover', [200, 202, 400, 403, 404, 409, 413, 415]],
  ['get', '/api/webhooks/{id}/recoveries/{recoveryId}', [200, 400, 403, 404]],
  ['post', '/api/webhooks/{id}/messages/lease', [200, 400, 403, 404, 409, 413, 415]],
  ['post', '/api/webhooks/{id}/messages/ack', [200, 400, 403, 404, 409, 413, 415]],
  ['get', '/api/deliveries', [200, 400, 403]],
  ['get', '/api/deliveries/count', [200, 400, 403]],
  ['get', '/api/deliveries/{deliveryId}', [200, 400, 403, 404]],
  ['post', '/api/events/batch', [202, 400, 403, 409, 413, 415]],
  ['post', '/api/webhooks/{id}/test', [200, 400, 403, 404, 409, 413, 415]],
  ['get', '/api/webhooks/{id}/deliveries', [200, 400, 403, 404]],
  ['get', '/api/webhooks/{id}/deliveries/{deliveryId}', [200, 400, 403, 404]],
  ['post', '/api/events', [202, 400, 403, 409, 413, 415]],
  ['get', '/api/events', [200, 400, 403]],
  ['get', '/api/events/{id}', [200, 400, 403, 404]],
  ['post', '/api/accounts', [201, 400, 403, 409, 413, 415]],
  ['get', '/api/accounts', [200, 400, 403]],
  ['get', '/api/accounts/{id}', [200, 400, 403, 404]],
  ['delete', '/api/accounts/{id}', [200, 400, 403, 404, 413, 415]],
  ['put', '/api/accounts/{id}/followers', [200, 400, 403, 404, 409, 413, 415]],
  ['get', '/api/event-types', [200]],
  ['get', '/api/event-types/{name}', [200, 404]],
  ['get', '/api/stats', [200, 400, 403, 404]],
  ['post', '/api/console-links', [201, 400, 403, 409, 413, 415]],
  ['post', '/api/console-sessions', [201, 400, 409, 413, 415]],
  ['delete', '/api/console-sessions', [200, 400, 409, 413, 415]],
  ['delete', '/api/users/{userId}', [202, 400, 403, 409, 413, 415]],
  ['get', '/api/erasures', [200, 400, 403]],
  ['get', '/api/erasures/{id}', [200, 400, 403, 404]],
  ['post', '/api/try-receivers', [200, 201, 400, 403, 404, 409, 413, 415]],
  ['get', '/api/try-receivers/{id}', [200, 403, 404]],
  ['patch', '/api/try-receivers/{id}', [200, 400, 403, 404, 413, 415]],
];

const operationsOf = (paths: Record<string, Record<string, Operation>>): Operation[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods));

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
    const documented = Object.keys(operation?.responses ?? {});
    expect(documented.sort()).toEqual([...statuses.map(String), ...ANYWHERE].sort());
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

  it('has examples of bodies that work as they stand', async () => {
    const valueOf = (schema: Schema): unknown => {
      if (schema.$ref) return valueOf(document.components.schemas[schema.$ref.split('/').at(-1)!]!);
      for (const value of [schema.example, schema.default, schema.enum?.[0]]) if (value !== undefined) return value;
      if (schema.oneOf) return valueOf(schema.oneOf[0]!);
      if (schema.items) return [valueOf(schema.items)];
      if (schema.properties)
        return Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, valueOf(field)]));
      return { integer: schema.minimum, boolean: true }[String(schema.type)] ?? 'no example';
    };
    const failed: string[] = [];
    const withSecret: string[] = [];
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { requestBody }] of Object.entries(methods)) {
        if (!requestBody) continue;
        const { schema, examples } = requestBody.content['application/json']!;
        const [example] = Object.values(examples ?? {});
        const body = example ? example.value : valueOf(schema as Schema);
        const of = path
          .replace('{name}', 'order.paid')
          .replace('{userId}', 'alice')
          .replaceAll(/\{\w+\}/g, UNKNOWN_ID);
        const { status, text } = await exchange(service.url, method.toUpperCase(), of, {
          rawBody: JSON.stringify(body),
          headers: { 'content-type': 'application/json', authorization: `Bearer ${service.token}` },
        });
        if ('secret' in (body as object)) withSecret.push(`${method} ${path}`);
        if (status >= 400 && status !== 404) failed.push(`${method} ${path}: ${text}`);
      }
    expect({ failed, withSecret }).toEqual({ failed: [], withSecret: [] });
  });

  it('has no example of a parameter, because Swagger UI would send it', () => {
    const filledIn = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap(({ parameters = [] }) =>
        parameters.flatMap(({ name, example, schema }) =>
          (example ?? schema?.example) === undefined ? [] : [`${path} ${name}`],
        ),
      ),
    );
    expect(filledIn).toEqual([]);
  });

  it('closes every request body', () => {
    const bodies = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ requestBody }) => requestBody),
    );
    const names = JSON.stringify(bodies).match(/(?<=#\/components\/schemas\/)\w+/g) ?? [];
    const open = [...new Set(names)].filter(
      (name) => document.components.schemas[name]?.additionalProperties !== false,
    );
    expect({ count: new Set(names).size, open }).toEqual({ count: 21, open: [] });
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

  it('keeps the names of its operations and schemas', () => {
    expect(
      operationsOf(document.paths)
        .map(({ operationId }) => operationId)
        .sort(),
    ).toEqual(OPERATION_IDS);
    expect(
      operationsOf(document.webhooks)
        .map(({ operationId }) => operationId)
        .sort(),
    ).toEqual(OUTGOING_IDS);
    expect(Object.keys(document.components.schemas).sort()).toEqual(SCHEMA_NAMES);
    for (const id of [...OPERATION_IDS, ...OUTGOING_IDS]) expect(id).toMatch(/^[a-z]+([A-Z][a-z]+)+$|^getMe$/);
  });

  it('has no tag that operations and outgoing events share', () => {
    const tags = new Set(operationsOf(document.paths).flatMap((operation) => operation.tags ?? []));
    expect(
      operationsOf(document.webhooks)
        .flatMap((operation) => operation.tags ?? [])
        .filter((tag) => tags.has(tag)),
    ).toEqual([]);
  });

  it('shows an example for each code that an operation returns, with the one schema of errors', () => {
    for (const { operationId, responses } of operationsOf(document.paths)) {
      if (operationId === 'getReadiness' || operationId === 'getLiveness') continue;
      for (const [status, response] of Object.entries(responses).filter(([key]) => !key.startsWith('2'))) {
        const { content } =
          '$ref' in response ? document.components.responses[response.$ref.split('/').at(-1)!]! : response;
        const { schema, examples } = content?.['application/json'] as ErrorContent;
        expect(schema).toEqual({ $ref: '#/components/schemas/Error' });
        for (const [code, { value }] of Object.entries(examples)) {
          expect(value).toMatchObject({ success: false, code, requestId: expect.any(String) });
          if (status !== 'default') expect(ERROR_STATUSES[code]).toBe(Number(status));
        }
        expect(Object.keys(examples).length).toBeGreaterThan(0);
      }
    }
  });

  it('says of each operation which scope it requires', () => {
    for (const { operationId, description, 'x-required-scope': scope } of operationsOf(document.paths)) {
      for (const one of [scope ?? []].flat())
        expect({ operationId, description }).toMatchObject({ description: expect.stringContaining(one) });
    }
    expect(document.paths['/api/webhooks']?.post?.['x-required-scope']).toBe('webhooks:write');
  });

  it('uses nothing that generators cannot read', () => {
    const found: string[] = [];
    const look = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null || /\/(example|examples|value)$/.test(path)) return;
      const has = (key: string) => Object.hasOwn(value, key);
      const { type, items } = value as { type?: unknown; items?: { enum?: unknown } };
      if (has('$ref') && Object.keys(value).length > 1) found.push(`${path}: siblings of $ref`);
      if (has('enum') && has('oneOf')) found.push(`${path}: enum beside oneOf`);
      if (type === 'boolean' && (has('const') || has('enum'))) found.push(`${path}: a constant boolean`);
      if (has('uniqueItems') && items?.enum) found.push(`${path}: uniqueItems of an enum`);
      if ([type].flat().includes('integer') && !has('format')) found.push(`${path}: an integer without format`);
      for (const [key, inner] of Object.entries(value)) look(inner, `${path}/${key}`);
    };
    look(document.paths, '');
    look(document.components, '');
    expect(found).toEqual([]);
    expect(document.servers).toEqual([{ url: '/', description: expect.any(String) }]);
    expect(document.info.license).toMatchObject({ name: 'MIT' });
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

  it.each(['/health/live', '/health/ready'])('is next to %s, which returns 200 without a token', async (path) => {
    const { status, headers, text } = await exchange(service.url, 'GET', path);
    expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(/^application\/json/)]);
    expect(text).not.toMatch(/127\.0\.0\.1|postgres:\/\//);
  });
});
