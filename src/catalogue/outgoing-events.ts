import type { KnownEventType } from 'webhook-notification/catalogue';
import { liftDefinitions } from './lifted-definitions';

/** The most bytes of JSON that declared types may add to the document. */
const MAX_DECLARED_BYTES = 1024 * 1024;

const HEADERS: Record<string, string> = {
  'x-service-signature': "Lowercase hex HMAC-SHA256 of the body's bytes, keyed with the secret as UTF-8.",
  'x-service-event': 'Name of the event.',
  'x-service-delivery': 'Id of this delivery.',
  'x-service-attempt': 'Number of this attempt: 1 is the first.',
  'x-service-trigger': '`event`, `redelivery` or `test`.',
  'webhook-id': 'Id of the event, the same in every attempt: drop repeats by it.',
  'webhook-timestamp': 'Unix seconds of this attempt.',
  'webhook-signature': 'Standard Webhooks 1.0: `v1,` and base64 HMAC-SHA256 over `id.timestamp.body`.',
};

const header = (name: string, description: string, required: boolean) => ({
  name,
  in: 'header' as const,
  required,
  description,
  schema: { type: 'string' as const },
});

const HEADER_PARAMETERS = [
  ...Object.entries(HEADERS).map(([name, description]) => header(name, description, true)),
  header(
    'x-service-signature-previous',
    'The same with the secret before, as long as a rotation overlaps; `webhook-signature` has a second value then.',
    false,
  ),
  header(
    'traceparent',
    'W3C Trace Context, when the event was published with one: its trace id, and a parent id of this attempt.',
    false,
  ),
];

type Header = (typeof HEADER_PARAMETERS)[number] | { $ref: string };

/** Declared types may be many, so their headers are components. */
const COMPONENTS = Object.fromEntries(HEADER_PARAMETERS.map((parameter) => [parameter.name, parameter]));
const HEADER_REFERENCES = HEADER_PARAMETERS.map(({ name }) => ({ $ref: `#/components/parameters/${name}` }));

/** The requests that receivers get for the service's own types: for the `webhooks` section of OpenAPI 3.1. */
export function outgoingEvents(types: readonly KnownEventType[]) {
  return Object.fromEntries(
    types.map((type) => {
      const body = { schema: bodySchema(type.name, type.schema), example: exampleBody(type) };
      return [type.name, { post: operation(type, HEADER_PARAMETERS, body) }];
    }),
  );
}

/** The parts of the document that describe declared types. */
export interface DeclaredEvents {
  webhooks: Record<string, object>;
  components: { schemas: Record<string, unknown>; parameters: Record<string, object> };
  /** The number of types that do not fit. */
  leftOut: number;
}

/**
 * The requests that receivers get for declared types, without examples. Leaves out the first type that exceeds the bound and
 * all types after it, so the work is bounded whatever is stored.
 */
export function declaredEvents(types: readonly KnownEventType[], maxBytes = MAX_DECLARED_BYTES): DeclaredEvents {
  const webhooks: [string, object][] = [];
  const schemas: [string, unknown][] = [];
  let bytes = Buffer.byteLength(JSON.stringify(COMPONENTS));
  for (const type of types) {
    const { schema, components } = liftDefinitions(type.schema, type.name);
    const post = operation(type, HEADER_REFERENCES, { schema: bodySchema(type.name, schema) });
    // The JSON of an entry also has its name, quotes, a colon and a comma.
    bytes += type.name.length + Buffer.byteLength(JSON.stringify([{ post }, components])) + 4;
    if (bytes > maxBytes) break;
    webhooks.push([type.name, { post }]);
    schemas.push(...Object.entries(components));
  }
  return {
    webhooks: Object.fromEntries(webhooks),
    components: { schemas: Object.fromEntries(schemas), parameters: COMPONENTS },
    leftOut: types.length - webhooks.length,
  };
}

const operation = ({ name, description }: KnownEventType, parameters: Header[], body: object) => ({
  summary: name,
  description,
  operationId: `receive ${name}`,
  tags: ['Events'],
  parameters,
  requestBody: { required: true, content: { 'application/json': body } },
  responses: { '2XX': { description: 'Received. Everything else, redirects included, counts as failed.' } },
});

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
    data,
  },
});
