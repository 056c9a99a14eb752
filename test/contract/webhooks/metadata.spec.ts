import { dataOf, errorOf, pageOf } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { deleteWebhooks, publish, subscribe } from '../../e2e/stage/steps';

describe('Metadata', () => {
  const service = useService();
  const receiver = useReceiver();

  afterEach(() => deleteWebhooks(service.api));

  const create = (metadata: unknown) =>
    dataOf(service.api.createWebhook({ url: 'https://example.com/hook', events: ['*'], metadata }), 201);
  const found = async (...metadata: string[]) =>
    (await pageOf(service.api.listWebhooks({ metadata }))).rows.map(({ id }) => id);

  it('is returned as it was set, with names that every object inherits', async () => {
    const metadata = { constructor: 'a', toString: 'b', 'cost.center': 'é😀', empty: '' };
    const { id } = await create(metadata);
    expect((await dataOf(service.api.readWebhook(id))).metadata).toEqual(metadata);
  });

  it('is replaced as a whole by PATCH, cleared by {} and unchanged by a PATCH of other fields', async () => {
    const { id } = await create({ team: 'billing', stage: 'test' });
    const update = async (changes: object) => (await dataOf(service.api.updateWebhook(id, changes))).metadata;
    expect(await update({ description: 'x' })).toEqual({ team: 'billing', stage: 'test' });
    expect(await update({ metadata: { team: 'sales' } })).toEqual({ team: 'sales' });
    expect(await update({ metadata: {} })).toEqual({});
  });

  it.each(['null', '[]', '"x"', '{"a":1}', '{"a":null}', '{"a":{"b":"c"}}', '{"a\\u0000":"x"}'])(
    'of %s is 400, together with the other errors',
    async (metadata) => {
      const rawBody = `{"url":"ftp://example.com","events":["*"],"active":1,"metadata":${metadata}}`;
      const reply = await service.api.call('POST', '/api/webhooks', { rawBody });
      const fields = reply.success ? [] : reply.details!.map(({ field }) => field);
      expect(fields.sort()).toEqual(['active', expect.stringMatching(/^metadata(\.a)?$/), 'url']);
    },
  );

  it('with a name __proto__ returns 400', async () => {
    const rawBody = '{"url":"https://example.com","events":["*"],"metadata":{"__proto__":"x"}}';
    expect(await service.api.call('POST', '/api/webhooks', { rawBody })).toMatchObject({ status: 400 });
  });

  it('finds webhooks by all of the given pairs', async () => {
    const one = await create({ team: 'billing', url: 'a:b' });
    const other = await create({ team: 'billing', stage: 'test' });
    await create({ team: 'sales', constructor: 'x' });
    expect(await found('team:billing')).toEqual([other.id, one.id]);
    expect(await found('team:billing', 'stage:test')).toEqual([other.id]);
    expect(await found('team:billing', 'team:billing')).toEqual([other.id, one.id]);
    expect(await found('team:billing', 'team:sales')).toEqual([]);
    expect(await found('url:a:b')).toEqual([one.id]);
    expect(await found('team:')).toEqual([]);
    expect(await found('constructor:x')).toHaveLength(1);
    for (const pair of ['team', ':x', '__proto__:x', 'a:\0', 'a b:c'])
      expect(await errorOf(service.api.listWebhooks({ metadata: [pair] }), 400)).toContain('team:billing');
  });

  it('binds the cursor of a list', async () => {
    await create({ team: 'billing' });
    await create({ team: 'billing' });
    const { nextCursor } = await pageOf(service.api.listWebhooks({ metadata: ['team:billing'], limit: 1 }));
    const query = { metadata: ['team:sales'], cursor: nextCursor! };
    await errorOf(service.api.listWebhooks(query), 'cursor_invalid');
  });

  it('is not sent to the receiver', async () => {
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['job.started'], { metadata: { mark: 'canary-metadata' } });
    await publish(service.api, 'job.started');
    const [call] = await hook.received(1);
    expect(JSON.stringify([call!.headers, call!.body.toString()])).not.toContain('canary-metadata');
  });
});
