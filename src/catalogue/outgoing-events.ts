import { BUILT_IN_EVENTS, isBuiltIn, type KnownEventType, type ObjectSchema } from 'webhook-notification/catalogue';
import { OWN_PREFIX } from '../infrastructure/config/header-prefixes';

/** The tag of outgoing events. Generators would mix those of another tag with its operations. */
export const OUTGOING_TAG = 'Outgoing events';

/** Maximum bytes of JSON that declared types may add to the document. */
const MAX_DECLARED_BYTES = 1024 * 1024;

type Header = [name: string, description: string, isOptional?: true];

const SIGNATURE = "Lowercase hex HMAC-SHA256 of the body's bytes, keyed with the secret as UTF-8.";
const OWN_SIGNATURE: Header = [`${OWN_PREFIX}-signature`, SIGNATURE];

const headersUnder = (prefix: string): Header[] => [
  [`${prefix}-signature`, SIGNATURE],
  [`${prefix}-event`, 'Name of the event.'],
  [`${prefix}-delivery`, 'Id of this delivery.'],
  [`${prefix}-attempt`, 'Number of this attempt, from 1.'],
  [`${prefix}-trigger`, '`event`, `redelivery` or `test`.'],
];

const STANDARD: readonly Header[] = [
  ['webhook-id', 'Id of the event, the same in every attempt. Use it to deduplicate.'],
  ['webhook-timestamp', 'Unix seconds of this attempt.'],
  ['webhook-signature', 'Standard Webhooks 1.0: `v1,` and base64 HMAC-SHA256 over `id.timestamp.body`.'],
];

const optionalHeaders = (prefixes: readonly string[]): Header[] => [
  ...prefixes.map((prefix): Header => [
    `${prefix}-signature-previous`,
    'Signature with the previous secret while a rotation overlaps; `webhook-signature` then has a second value.',
    true,
  ]),
  ...prefixes.map((prefix): Header => [
    `${prefix}-subject`,
    'What the event is about, if it was published with a subject: UTF-8, percent-encoded except `A-Za-z0-9-._~`.',
    true,
  ]),
  [
    'traceparent',
    'W3C Trace Context, if the event was published with one: its trace id, and a parent id of this attempt.',
    true,
  ],
];

/** @param prefixes of `HEADER_PREFIX` */
function parametersOf(prefixes: readonly string[]) {
  const own = prefixes.includes(OWN_PREFIX) ? [] : [OWN_SIGNATURE];
  const headers = [...own, ...prefixes.flatMap(headersUnder), ...STANDARD, ...optionalHeaders(prefixes)];
  return headers.map(([name, description, isOptional = false]) => ({
    name,
    in: 'header' as const,
    required: !isOptional,
    description,
    schema: { type: 'string' as const },
  }));
}

type Parameter = ReturnType<typeof parametersOf>[number] | { $ref: string };

/** Returns the requests that receivers get for the service's own types, for the `webhooks` section of OpenAPI 3.1. */
export function outgoingEvents(types: readonly KnownEventType[], prefixes: readonly string[] = [OWN_PREFIX]) {
  const parameters = parametersOf(prefixes);
  const ids = outgoingIds(types);
  return Object.fromEntries(
    types.map((type) => {
      const body = { schema: bodySchema(type.name, type.schema), example: exampleBody(type) };
      return [type.name, { post: operation(type, ids.get(type.name), parameters, body) }];
    }),
  );
}

export interface DeclaredEvents {
  webhooks: Record<string, object>;
  components: { schemas: Record<string, unknown>; parameters: Record<string, object> };
  /** Number of types that do not fit. */
  leftOut: number;
}

/**
 * Returns the requests that receivers get for declared types, without examples. Leaves out the first type that exceeds
 * the bound and all types after it, so the work is bounded for any number of stored types.
 */
export function declaredEvents(
  types: readonly KnownEventType[],
  prefixes: readonly string[] = [OWN_PREFIX],
): DeclaredEvents {
  // Declared types can be many, so their headers are components.
  const parameters = Object.fromEntries(parametersOf(prefixes).map((parameter) => [parameter.name, parameter]));
  const references = Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const webhooks: [string, object][] = [];
  const schemas: [string, unknown][] = [];
  const ids = outgoingIds(types);
  let bytes = Buffer.byteLength(JSON.stringify(parameters));
  for (const type of types) {
    const { schema, components } = liftDefinitions(type.schema, type.name);
    const post = operation(type, ids.get(type.name), references, { schema: bodySchema(type.name, schema) });
    // The JSON of an entry also contains its name, quotes, a colon and a comma.
    bytes += type.name.length + Buffer.byteLength(JSON.stringify([{ post }, components])) + 4;
    if (bytes > MAX_DECLARED_BYTES) break;
    webhooks.push([type.name, { post }]);
    schemas.push(...Object.entries(components));
  }
  return {
    webhooks: Object.fromEntries(webhooks),
    components: { schemas: Object.fromEntries(schemas), parameters },
    leftOut: types.length - webhooks.length,
  };
}

const operation = (
  { name, description }: KnownEventType,
  operationId: string | undefined,
  parameters: Parameter[],
  body: object,
) => ({
  summary: name,
  description,
  operationId,
  tags: [OUTGOING_TAG],
  // The service signs its requests and sends no token.
  security: [],
  parameters,
  requestBody: { required: true, content: { 'application/json': body } },
  responses: { '2XX': { description: 'Received. Any other status, including redirects, counts as a failure.' } },
});

/** `follower.gained` becomes `onFollowerGained`. */
const outgoingIdOf = (name: string): string =>
  `on${name.replace(/(?:^[._-]*|[._-]+)([A-Za-z0-9]?)/g, (_, first: string) => first.toUpperCase())}`;

/** Of names with the same id in any case, all but one get a number; built-in ones and those of a-z, 0-9 and dots come first. */
function outgoingIds(types: readonly KnownEventType[]): ReadonlyMap<string, string> {
  const rank = (name: string): number => (isBuiltIn(name) ? 0 : /[^a-z0-9.]/.test(name) ? 2 : 1);
  const names = [...new Set([...BUILT_IN_EVENTS, ...types.map(({ name }) => name)])];
  names.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const used = new Map<string, number>();
  return new Map(
    names.map((name) => {
      const id = outgoingIdOf(name);
      const count = (used.get(id.toLowerCase()) ?? 0) + 1;
      used.set(id.toLowerCase(), count);
      return [name, count === 1 ? id : `${id}_${count}`];
    }),
  );
}

const exampleBody = ({ name, example }: KnownEventType) => ({
  id: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
  event: name,
  createdAt: '2026-01-15T09:30:00.000Z',
  data: example,
});

const bodySchema = (name: string, data: object) => ({
  type: 'object',
  required: ['id', 'event', 'createdAt', 'data'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    event: { type: 'string', const: name },
    createdAt: { type: 'string', format: 'date-time' },
    subject: { type: 'string', minLength: 1, maxLength: 128 },
    data,
  },
});

/** Keywords whose value is one schema, a list of schemas, or schemas by name. */
const ONE_SCHEMA = ['items', 'additionalProperties'];
const MANY_SCHEMAS = ['oneOf', 'anyOf', 'allOf'];
const NAMED_SCHEMAS = ['properties', '$defs'];
const PLAIN_NAME = /^\w+$/;

type Schema = Record<string, unknown>;

/** A schema as a part of an OpenAPI document, with its definitions as components of that document. */
export interface LiftedSchema {
  schema: Schema;
  /** Keyed by names that begin with the prefix and a hyphen. */
  components: Record<string, unknown>;
}

/**
 * Moves the `$defs` of a schema to `#/components/schemas` (OpenAPI 3.1, section 4.8.7) and rewrites its references to
 * them. Definitions are not repeated, so only the longer references make the result larger than the schema. A reference
 * to a missing definition is kept.
 * @param prefix letters, digits, `.`, `_` and `-`; unique in the document
 */
export function liftDefinitions(
  { $defs = {}, ...schema }: ObjectSchema & { $defs?: Schema },
  prefix: string,
): LiftedSchema {
  const names = Object.keys($defs);
  const nameOf = new Map(names.map((name, i) => [name, `${prefix}-${PLAIN_NAME.test(name) ? name : `.${i}`}`]));
  const links = new Map([...nameOf].map(([name, to]) => [pointerTo(name), `#/components/schemas/${to}`]));
  const definitions = Object.entries($defs).map(([name, each]) => [nameOf.get(name), relink(each, links)]);
  return { schema: relink(schema, links) as Schema, components: Object.fromEntries(definitions) as Schema };
}

/** Returns a JSON pointer to a definition (RFC 6901, section 3). */
const pointerTo = (name: string): string => `#/$defs/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function relink(schema: unknown, links: ReadonlyMap<string, string>): unknown {
  if (!isObject(schema)) return schema;
  const inner = (value: unknown) => relink(value, links);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === '$ref') return [keyword, links.get(String(value)) ?? value];
      if (ONE_SCHEMA.includes(keyword)) return [keyword, inner(value)];
      if (MANY_SCHEMAS.includes(keyword) && Array.isArray(value)) return [keyword, value.map(inner)];
      if (!NAMED_SCHEMAS.includes(keyword) || !isObject(value)) return [keyword, value];
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]))];
    }),
  );
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
