import { BUILT_IN_EVENTS, type BuiltInEventName } from './event-name';
import type { EventName, EventPayloads, WebhookTest } from '../events/payloads';

/** A JSON Schema (2020-12) of an object. */
export interface ObjectSchema {
  type: 'object';
  required?: readonly string[];
  properties?: Readonly<Record<string, unknown>>;
}

export interface EventType<Payload = object> {
  name: string;
  /** When the event occurs, as a sentence. */
  description: string;
  /** The schema of `data`; additional keys are allowed. */
  schema: ObjectSchema;
  example: Payload;
}

/** An event type of a module: its name is declared in `EventPayloads`, and its example has the type that `publish` takes. */
export type AddedEventType = {
  [Name in Exclude<EventName, BuiltInEventName>]: EventType<EventPayloads[Name]> & { name: Name };
}[Exclude<EventName, BuiltInEventName>];

const time = { type: 'string', format: 'date-time' };
const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const orNull = (schema: { type: string }) => ({ ...schema, type: [schema.type, 'null'] });

function objectOf(properties: Record<string, unknown>, optional: readonly string[] = []): ObjectSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', required, properties };
}

const operation = {
  operationId: text,
  type: orNull(text),
  startedAt: orNull(time),
  finishedAt: orNull(time),
  durationMs: orNull(count),
};
const follower = objectOf({
  accountId: text,
  follower: objectOf({ id: text, username: text, displayName: text }, ['displayName']),
  followersCount: count,
  observedAt: time,
});
const followerExample = {
  accountId: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
  follower: { id: '109302', username: 'ada@example.social', displayName: 'Ada' },
  followersCount: 1843,
  observedAt: '2026-01-15T09:30:00.000Z',
};
const operationExample = {
  operationId: '4711',
  type: 'export-report',
  startedAt: '2026-01-15T09:29:58.200Z',
  finishedAt: '2026-01-15T09:30:00.000Z',
  durationMs: 1800,
};

/** The built-in event types by name. A typo in an example, or a missing event, is a compile error. */
const definitions: { [Name in BuiltInEventName]: Omit<EventType<EventPayloads[Name]>, 'name'> } = {
  'operation.complete': {
    description: 'An automation job finished successfully.',
    schema: objectOf({ ...operation, result: {} }),
    example: { ...operationExample, result: { rows: 1280 } },
  },
  'operation.failed': {
    description: 'An automation job failed for good.',
    schema: objectOf({ ...operation, attempts: orNull(count), error: objectOf({ name: text, message: text }) }),
    example: { ...operationExample, attempts: 3, error: { name: 'Error', message: 'The report source is offline.' } },
  },
  'follower.gained': {
    description: 'The connected social account gained a follower.',
    schema: follower,
    example: followerExample,
  },
  'follower.lost': {
    description: 'The connected social account lost a follower.',
    schema: follower,
    example: { ...followerExample, followersCount: 1842 },
  },
  'job.started': {
    description: 'A queue job began.',
    schema: objectOf({
      jobId: text,
      queue: text,
      name: orNull(text),
      attempt: orNull(count),
      startedAt: orNull(time),
    }),
    example: { jobId: '4711', queue: 'reports', name: 'export', attempt: 1, startedAt: '2026-01-15T09:29:58.200Z' },
  },
  'job.completed': {
    description: 'A queue job completed.',
    schema: objectOf({
      jobId: text,
      queue: text,
      name: orNull(text),
      attempts: orNull(count),
      startedAt: orNull(time),
      completedAt: orNull(time),
      durationMs: orNull(count),
      result: {},
    }),
    example: {
      jobId: '4711',
      queue: 'reports',
      name: 'export',
      attempts: 1,
      startedAt: '2026-01-15T09:29:58.200Z',
      completedAt: '2026-01-15T09:30:00.000Z',
      durationMs: 1800,
      result: { rows: 1280 },
    },
  },
  'webhook.disabled': {
    description:
      'The service disabled one of your webhooks: it kept failing, its receiver answered 410, or nobody leased from it.',
    schema: objectOf({
      webhookId: text,
      url: orNull(text),
      reason: { enum: ['failing', 'gone', 'idle'] },
      disabledAt: time,
    }),
    example: {
      webhookId: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
      url: 'https://example.com',
      reason: 'failing',
      disabledAt: '2026-01-15T09:30:00.000Z',
    },
  },
  'webhook.failing': {
    description: 'Several events in a row ran out of retries for one of your webhooks.',
    schema: objectOf({
      webhookId: text,
      url: orNull(text),
      consecutiveFailures: count,
      lastError: objectOf({ code: orNull(text), responseStatus: orNull(count) }),
      disablesAt: orNull(time),
    }),
    example: {
      webhookId: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
      url: 'https://example.com',
      consecutiveFailures: 5,
      lastError: { code: 'http_status', responseStatus: 503 },
      disablesAt: null,
    },
  },
  'webhook.healthy': {
    description: 'One of your webhooks that was failing received an event.',
    schema: objectOf({ webhookId: text, url: orNull(text), failingSince: time, missedCount: count }),
    example: {
      webhookId: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
      url: 'https://example.com',
      failingSince: '2026-01-15T09:30:00.000Z',
      missedCount: 7,
    },
  },
};

/** The built-in events that a webhook can subscribe to; `EventCatalogue` also knows the added ones. */
export const EVENT_TYPES: readonly EventType[] = BUILT_IN_EVENTS.map((name) => ({ name, ...definitions[name] }));

/** The event that `POST /api/webhooks/:id/test` sends by default. No webhook can subscribe to it. */
export const TEST_EVENT_TYPE: EventType<WebhookTest> = {
  name: 'webhook.test',
  description: 'Somebody tested this webhook. It only comes from tests.',
  schema: objectOf({ webhookId: text, message: text }),
  example: {
    webhookId: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
    message: 'This is a test: your webhook works.',
  },
};
