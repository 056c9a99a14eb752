import { randomBytes } from 'node:crypto';
import { dataOf, errorOf, exchange, type RawAnswer } from '../../support/api';
import { startService, useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';

const MAX_DECLARED_BYTES = 1024 * 1024;
const BASE_TYPE = { description: 'Tariffs of Initech changed.', schema: { type: 'object' }, example: {} };
const CHANGED = {
  ...BASE_TYPE,
  schema: {
    type: 'object',
    properties: { tariff: { $ref: '#/$defs/tariff' } },
    $defs: { tariff: { enum: ['gold for Hooli'] } },
  },
};

interface Document {
  webhooks: Record<string, { post: { description: string; requestBody: object } }>;
  components: { schemas: Record<string, object>; parameters?: Record<string, object> };
  info: { description: string };
}

/** Gets the document, with one Authorization header for each of these values. */
const get = ({ url }: { url: string }, ...authorization: string[]): Promise<RawAnswer> =>
  exchange(url, 'GET', '/docs/openapi.json', { headers: authorization.length > 0 ? { authorization } : {} });
const documentOf = ({ text }: RawAnswer) => JSON.parse(text) as Document;
const bearer = (token: string) => `Bearer ${token}`;

describe('Declared event types in /docs/openapi.json', () => {
  const service = useService({ EXTRA_EVENT_TYPES: 'shop.opened,shop.closed', AUTH_FAILURES_PER_MINUTE: '8' });
  beforeAll(async () => {
    const api = await service.apiFor('operator', ['event-types:manage']);
    await dataOf(api.createEventType({ name: 'tariff.changed', ...CHANGED }), 201);
    await dataOf(api.saveEventType('shop.closed', { ...CHANGED, application: 'shop' }), 201);
  });

  it('are hidden without a token: names, descriptions and schemas', async () => {
    const { status, text, headers } = await get(service);
    expect([status, headers.vary]).toEqual([200, 'authorization']);
    expect(text).not.toMatch(/tariff|Initech|Hooli/);
    const { webhooks } = JSON.parse(text) as Document;
    expect(Object.keys(webhooks)).toEqual(expect.arrayContaining(['job.started', 'shop.opened', 'shop.closed']));
    for (const path of ['/docs', '/docs/swagger-ui-init.js']) {
      expect((await exchange(service.url, 'GET', path)).text).not.toMatch(/tariff|Initech|Hooli/);
    }
  });

  it('are shown with any live token, and their definitions become components', async () => {
    const answer = await get(service, bearer(await service.createToken('ada', [])));
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    const document = documentOf(answer);
    for (const name of ['tariff.changed', 'shop.closed']) {
      const { post } = document.webhooks[name]!;
      expect(post.description).toBe('Tariffs of Initech changed.');
      expect(JSON.stringify(post.requestBody)).toContain(
        JSON.stringify({ tariff: { $ref: `#/components/schemas/${name}-tariff` } }),
      );
      expect(document.components.schemas[`${name}-tariff`]).toEqual({ enum: ['gold for Hooli'] });
    }
    expect(Object.keys(document.webhooks)).toEqual(expect.arrayContaining(['job.started', 'shop.opened']));
    const references = [...answer.text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];
    const missing = references.filter(
      ([, kind, name]) => !Object.hasOwn((document.components as Record<string, object>)[kind!] ?? {}, name!),
    );
    expect(missing).toEqual([]);
  });

  it('are updated after every change', async () => {
    const api = await service.apiFor('operator', ['event-types:manage']);
    const shown = async () => documentOf(await get(service, bearer(service.token))).webhooks['tariff.changed']?.post;
    await dataOf(api.saveEventType('tariff.changed', { ...CHANGED, description: 'Cheaper.' }), 200);
    expect((await shown())?.description).toBe('Cheaper.');
    await dataOf(api.deleteEventType('tariff.changed'));
    expect(await shown()).toBeUndefined();
    await dataOf(api.createEventType({ name: 'tariff.changed', ...CHANGED }), 201);
    expect((await shown())?.description).toBe('Tariffs of Initech changed.');
  });

  it('require one valid token: other credentials return 401 and count as failed authentications', async () => {
    const unknown = `wns_${randomBytes(32).toString('base64url')}`;
    const good = bearer(service.token);
    for (const bad of [[bearer(unknown)], ['Basic YTpi'], [good, good], ['Bearer'], [''], [bearer('x')], [unknown]]) {
      const { status, text, headers } = await get(service, ...bad);
      expect([bad, status]).toEqual([bad, 401]);
      expect(headers['www-authenticate']).toBe('Bearer realm="api"');
      expect(JSON.parse(text)).toMatchObject({ success: false, code: 'unauthenticated' });
    }
    await errorOf(service.api.withToken(unknown).me(), 401);
    expect((await get(service, bearer(unknown))).status).toBe(429);
    expect((await get(service, good)).status).toBe(200);
    expect((await get(service)).status).toBe(200);
  });
});

describe('The document, with 500 event types of 15.8 KB stored by an earlier version', () => {
  const references = Array.from({ length: 110 }, () => ({ $ref: '#/$defs/E' }));
  const schema = {
    type: 'object',
    $defs: { E: { enum: Array.from({ length: 2900 }, (_, i) => i) } },
    properties: { a: { type: 'array', items: { allOf: references } } },
  };

  it('contains the oldest types up to 1 MiB, and serves many requests from a small heap', async () => {
    expect(JSON.stringify(schema).length).toBeGreaterThan(15_700);
    const service = await startService({ NODE_OPTIONS: '--max-old-space-size=160' });
    try {
      await service.database.query(
        `insert into webhook_service.event_types (name, description, schema, example)
         select 'large.kind_' || (500 - i), 'x', $1::json, '{}' from generate_series(1, 500) as i order by i`,
        [JSON.stringify(schema)],
      );
      const types = async () => (await dataOf(service.api.eventTypes())).length > 500;
      await waitFor(types, { what: 'the types' });
      const plain = await get(service);
      const answers = await Promise.all(Array.from({ length: 60 }, () => get(service, bearer(service.token))));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const [text = '', ...others] = new Set(answers.map((answer) => answer.text));
      expect(others).toEqual([]);
      const added = text.length - plain.text.length;
      expect(added).toBeLessThan(MAX_DECLARED_BYTES);
      expect(added).toBeGreaterThan(MAX_DECLARED_BYTES / 2);
      const { webhooks, info } = JSON.parse(text) as Document;
      const shown = Object.keys(webhooks).filter((name) => name.startsWith('large.'));
      expect(shown).toEqual(Array.from(shown, (_, i) => `large.kind_${499 - i}`));
      expect(info.description).toContain(`${500 - shown.length} event types`);
      await Promise.all(Array.from({ length: 200 }, () => get(service)));
    } finally {
      await service.stop();
    }
  });
});
