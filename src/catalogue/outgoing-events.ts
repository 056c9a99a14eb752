import { type EventType, type KnownEventType, withoutReferences } from 'webhook-notification/catalogue';

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

const parameters = [
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

/**
 * The requests that receivers get, for the `webhooks` section of OpenAPI 3.1. The document needs no token, so it has no
 * examples of what came over the API.
 */
export function outgoingEvents(types: readonly KnownEventType[]) {
  return Object.fromEntries(types.map((type) => [type.name, { post: operation(type) }]));
}

function operation({ name, description, schema, example, source, application }: KnownEventType) {
  const isDeclared = source === 'api' || application !== null;
  return {
    summary: name,
    description,
    operationId: `receive ${name}`,
    tags: ['Events'],
    parameters,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: bodySchema(name, schema),
          ...(!isDeclared && { example: exampleBody(name, example) }),
        },
      },
    },
    responses: { '2XX': { description: 'Received. Everything else, redirects included, counts as failed.' } },
  };
}

const exampleBody = (event: string, data: object) => ({
  id: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
  event,
  createdAt: '2026-01-15T09:30:00.000Z',
  data,
});

function bodySchema(name: string, data: EventType['schema']): object {
  return {
    type: 'object',
    required: ['id', 'event', 'createdAt', 'data'],
    properties: {
      id: { type: 'string', format: 'uuid' },
      event: { type: 'string', const: name },
      createdAt: { type: 'string', format: 'date-time' },
      data: withoutReferences(data),
    },
  };
}
