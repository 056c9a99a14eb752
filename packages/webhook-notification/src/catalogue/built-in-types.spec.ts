import { isReserved } from './event-name';
import { EVENT_TYPES, type ObjectSchema, TEST_EVENT_TYPE } from './built-in-types';

/** The fields of each event's data and of nested objects, as the contract lists them; `?` marks optional ones. */
const FIELDS: Record<string, string> = {
  'operation.complete': 'operationId type startedAt finishedAt durationMs result',
  'operation.failed': 'operationId type startedAt finishedAt durationMs attempts error{name message}',
  'follower.gained': 'accountId follower{id username displayName?} followersCount observedAt',
  'follower.lost': 'accountId follower{id username displayName?} followersCount observedAt',
  'job.started': 'jobId queue name attempt startedAt',
  'job.completed': 'jobId queue name attempts startedAt completedAt durationMs result',
  'webhook.disabled': 'webhookId url reason disabledAt',
  'webhook.failing': 'webhookId url consecutiveFailures lastError{code responseStatus} disablesAt',
  'webhook.healthy': 'webhookId url failingSince missedCount',
};

/** Returns the fields of a schema in the same notation. */
function fieldsOf({ properties = {}, required = [] }: ObjectSchema): string {
  return Object.entries(properties)
    .map(([name, property]) => {
      const inner = property as ObjectSchema;
      return `${name}${required.includes(name) ? '' : '?'}${inner.properties ? `{${fieldsOf(inner)}}` : ''}`;
    })
    .join(' ');
}

const names = EVENT_TYPES.map(({ name }) => name);
const typeOf = (name: string) => {
  const type = EVENT_TYPES.find((candidate) => candidate.name === name);
  if (!type) throw new Error(`${name} is missing`);
  return type;
};

describe('The catalogue', () => {
  it('has the six events of the service and the three about webhooks', () => {
    expect([...names].sort()).toEqual(Object.keys(FIELDS).sort());
  });

  it.each(Object.entries(FIELDS))('declares the data of %s as {%s}', (name, fields) => {
    expect(fieldsOf(typeOf(name).schema)).toBe(fields);
  });

  it.each(Object.entries(FIELDS))('has an example of %s with all of its fields', (name, fields) => {
    const data = typeOf(name).example as Record<string, object>;
    const shown = Object.entries(data).map(([key, value]) =>
      fields.includes(`${key}{`) ? `${key}{${Object.keys(value).join(' ')}}` : key,
    );
    expect(shown.join(' ')).toBe(fields.replaceAll('?', ''));
  });

  it.each(names)('describes %s in a sentence', (name) => {
    expect(typeOf(name).description).toMatch(/^[A-Z][^\n]+\.$/);
  });

  it.each(names)('has the valid name %s', (name) => {
    expect(name).toMatch(/^[a-z0-9_]+(\.[a-z0-9_]+)+$/);
    expect(name.length).toBeLessThanOrEqual(128);
  });

  it.each(names.filter(isReserved))('shows only the origin of the url in %s', (name) => {
    const { url } = typeOf(name).example as { url: string };
    expect(new URL(url).origin).toBe(url);
  });

  it('allows no subscription to test deliveries', () => {
    expect(TEST_EVENT_TYPE.name).toBe('webhook.test');
    expect(names).not.toContain(TEST_EVENT_TYPE.name);
  });
});

describe('Reserved', () => {
  it.each(['webhook.disabled', 'webhook.failing', 'webhook.healthy', 'webhook.test', 'webhook.anything.else'])(
    'is %s',
    (name) => {
      expect(isReserved(name)).toBe(true);
    },
  );

  it.each(names.filter((name) => !name.startsWith('webhook.')))('is not %s', (name) => {
    expect(isReserved(name)).toBe(false);
  });

  it.each(['webhooks.test', 'webhooks', 'my.webhook.test'])('is not %s', (name) => {
    expect(isReserved(name)).toBe(false);
  });
});
