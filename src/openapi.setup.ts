import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { KnownEventType } from 'webhook-notification/catalogue';
import { version } from './infrastructure/config/version';
import { ANSWER_HEADERS, ENVELOPES, nounOf } from './infrastructure/http/api-answer.decorator';
import { declaredEvents, OUTGOING_TAG, outgoingEvents } from './catalogue/outgoing-events';

const DESCRIPTION = `Register webhooks and publish events: every subscribed webhook receives a signed HTTP POST.

Press **Authorize** and paste an access token. An existing path returns 405 with \`allow\` for any other method. Every response under \`/api\` is an envelope: \`{ "success": true, "data": … }\`
or \`{ "success": false, "error": "…", "code": "…", "requestId": "…" }\`; lists have \`nextCursor\` next to \`data\`.`;

/** Describes every route, and the requests that receivers get for these events, as OpenAPI 3.1. */
export function buildOpenApi(
  app: INestApplication,
  events: readonly KnownEventType[],
  prefixes?: readonly string[],
): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Webhook Notification Service')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      description: 'An access token: wns_ and 43 characters, or a JWT.',
    })
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/', 'The service that serves this document')
    .addTag('Webhooks', 'URLs that receive events')
    .addTag('Events', 'Published events and event types')
    .addTag('Deliveries', 'Attempts and their responses')
    .addTag('Test receivers', 'Receivers in this process, to try deliveries on your own machine')
    .addTag('Accounts', 'Social accounts whose follower changes are published as events')
    .addTag('Access', 'Access tokens, console sessions and settings')
    .addTag('Health', 'For load balancers and orchestrators')
    .addTag(OUTGOING_TAG, 'Requests that receivers get');
  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (_, method) => method,
  });
  document.paths = inOrder(document.paths);
  const schemas = { ...document.components?.schemas, ...(ENVELOPES as Components['schemas']) };
  closeBodies(document);
  eachOperation(document, completeOperation);
  const responses = sharedErrors(document);
  const components = { ...document.components, schemas, responses, headers: ANSWER_HEADERS };
  return {
    ...(forGenerators({ ...document, components }) as OpenAPIObject),
    webhooks: outgoingEvents(events, prefixes),
  };
}

/** Beginnings of paths, in the order in which a newcomer needs them. The longest that fits places a path. */
const ORDER = [
  ...['/api/webhooks', '/api/webhooks/external', '/api/filter-checks', '/api/format-previews'],
  ...['/api/events', '/api/event-types'],
  ...['/api/webhooks/{id}/deliveries', '/api/deliveries', '/api/webhooks/{id}/recover'],
  ...['/api/webhooks/{id}/messages', '/api/stats'],
  // Before the accounts themselves, of which one operation disconnects an account.
  ...['/api/try-receivers', '/api/accounts', '/api/accounts/{id}/followers', '/api/accounts/{id}'],
  ...['/api/me', '/api/tokens', '/api/console', '/api/users', '/api/erasures', '/api/about', '/health'],
];

function inOrder(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const placeOf = (path: string) => {
    const [longest = ''] = ORDER.filter((start) => path.startsWith(start)).sort((a, b) => b.length - a.length);
    return ORDER.indexOf(longest);
  };
  return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => placeOf(a) - placeOf(b)));
}

/** Adds the requests that receivers get for declared types, in this order and up to 1 MiB. States how many are left out. */
export function withDeclared(
  document: OpenAPIObject,
  types: readonly KnownEventType[],
  prefixes: readonly string[],
): OpenAPIObject {
  const { webhooks, components, leftOut } = declaredEvents(types, prefixes);
  const { info } = document;
  const more = `\n\n${leftOut} event types do not fit into this document: \`GET /api/event-types\` lists them.`;
  return {
    ...document,
    info: { ...info, description: `${info.description ?? ''}${leftOut > 0 ? more : ''}` },
    components: {
      ...document.components,
      schemas: { ...document.components?.schemas, ...(components.schemas as Components['schemas']) },
      parameters: components.parameters as Components['parameters'],
    },
    webhooks: { ...document.webhooks, ...(webhooks as OpenAPIObject['webhooks']) },
  };
}

type Components = NonNullable<OpenAPIObject['components']>;

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

function eachOperation({ paths }: OpenAPIObject, action: (operation: Operation) => void): void {
  for (const { get, post, put, patch, delete: remove } of Object.values(paths))
    for (const operation of [get, post, put, patch, remove]) if (operation) action(operation);
}

/** States the scope in the description, and that no token is needed where that is so. */
function completeOperation(operation: Operation): void {
  operation.security ??= [];
  const scopes = (operation as { 'x-required-scope'?: string | string[] })['x-required-scope'];
  if (scopes === undefined) return;
  const required = [scopes].flat().map((scope) => `\`${scope}\``);
  operation.description = `${operation.description ?? ''} Requires the scope ${required.join(' or ')}.`.trim();
}

/** Moves error responses with at most two codes to shared components, which have the names of the codes. */
function sharedErrors(document: OpenAPIObject): Components['responses'] {
  const shared: NonNullable<Components['responses']> = {};
  eachOperation(document, ({ responses }) => {
    for (const [status, response] of Object.entries(responses)) {
      const codes = Object.keys((response as ErrorResponse).content?.['application/json']?.examples ?? {});
      if (codes.length === 0 || codes.length > 2) continue;
      const name = status === 'default' ? 'OtherError' : codes.map(pascalCase).join('Or');
      shared[name] = response as ErrorResponse;
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  });
  return shared;
}

type ErrorResponse = Exclude<NonNullable<Components['responses']>[string], { $ref: string }>;

const pascalCase = (code: string): string =>
  code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

interface SchemaPart {
  type?: unknown;
  maximum?: number;
  enum?: unknown[];
  oneOf?: unknown;
}

const KEPT = ['example', 'examples', 'enum', 'default'];

/** Names schemas as nouns, and gives integers a format: generators choose their types by both. Examples stay as they are. */
function forGenerators(value: unknown, name = ''): unknown {
  if (name === '$ref') return String(value).replace(/\w+$/, nounOf);
  if (typeof value !== 'object' || value === null || KEPT.includes(name)) return value;
  if (Array.isArray(value)) return value.map((item) => forGenerators(item));
  const entries = Object.entries(value).map(([key, inner]) => [
    name === 'schemas' ? nounOf(key) : key,
    forGenerators(inner, key),
  ]);
  const { enum: values, ...result } = Object.fromEntries(entries) as SchemaPart;
  // Any JSON value: Nest has no other way to say it, and generators know it as a schema without a type.
  if (Array.isArray(result.oneOf) && result.oneOf.length === 0) delete result.oneOf;
  // Nest adds the values of `@IsIn` also where `oneOf` lists them by type.
  const schema = values && !result.oneOf ? { ...result, enum: values } : result;
  if (![result.type].flat().includes('integer')) return schema;
  const largest = Math.max(...((values as number[] | undefined) ?? [result.maximum ?? Infinity]));
  return { ...schema, format: largest < 2 ** 31 ? 'int32' : 'int64' };
}

/** Declares that request bodies have no other fields, and changes at least one, which no decorator of a DTO can do. */
function closeBodies({ paths, components }: OpenAPIObject): void {
  const schemasIn = (part: unknown) =>
    [...JSON.stringify(part ?? {}).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
  const isClosed = new Set<string>();
  const close = (part: unknown): void => {
    for (const name of schemasIn(part)) {
      const schema = components?.schemas?.[name];
      if (isClosed.has(name) || !schema) continue;
      isClosed.add(name);
      Object.assign(schema, { additionalProperties: false });
      close(schema);
    }
  };
  for (const { post, put, patch, delete: remove } of Object.values(paths)) {
    for (const operation of [post, put, patch, remove]) close(operation?.requestBody);
    for (const name of schemasIn(patch?.requestBody))
      Object.assign(components?.schemas?.[name] ?? {}, { minProperties: 1 });
  }
}
