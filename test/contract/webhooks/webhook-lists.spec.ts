import { allPagesOf, type Api, dataOf, errorOf, pageOf } from '../../support/api';
import { useService } from '../../support/service';
import { UNKNOWN_ID } from '../../e2e/stage/examples';
import { deleteWebhooks, subscribe } from '../../e2e/stage/steps';

const DESTINATION = { url: 'https://example.com/hook' };

describe('The list of webhooks', () => {
  const service = useService({ MAX_WEBHOOKS_PER_USER: '500' });
  let stranger: Api;

  beforeAll(async () => {
    stranger = await service.apiFor('mallory');
  });

  afterEach(() => deleteWebhooks(service.api));

  /** Ids, newest first. */
  async function createSome(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.unshift((await subscribe(service.api, DESTINATION, ['job.started'])).id);
    return ids;
  }

  const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

  it('shows the newest first, to their owner only', async () => {
    const ids = await createSome(3);
    expect(idsOf((await pageOf(service.api.listWebhooks())).rows)).toEqual(ids);
    expect((await pageOf(stranger.listWebhooks())).rows).toEqual([]);
  });

  it('is searched for a text in url and description, whatever its case and its characters', async () => {
    const create = async (url: string, description?: string) =>
      (await dataOf(service.api.createWebhook({ url, description, events: ['*'] }), 201)).id;
    const shop = await create('https://shop.example/hooks', 'Our 100% _new_ shop');
    const other = await create('https://other.example/hooks', 'The other \\ one');
    const found = async (q: string) => idsOf((await pageOf(service.api.listWebhooks({ q }))).rows);
    expect(await found('hooks')).toEqual([other, shop]);
    expect(await found('SHOP')).toEqual([shop]);
    for (const text of ['100%', '_new_']) expect(await found(text)).toEqual([shop]);
    expect(await found('\\')).toEqual([other]);
    for (const text of ['%', '_', 'o%r', 'nothing']) expect((await found(text)).includes(other)).toBe(false);
    const { nextCursor } = await pageOf(service.api.listWebhooks({ q: 'hooks', limit: 1 }));
    expect(await errorOf(service.api.listWebhooks({ q: 'shop', cursor: nextCursor! }), 400)).toMatch(/cursor/);
    expect(await found('SHOP.EXAMPLE/H')).toEqual([shop]);
    for (const q of ['', 'x'.repeat(129), 'a\0b']) await errorOf(service.api.listWebhooks({ q }), 400);
  });

  it('is read in pages of `limit`, the last of which has no cursor', async () => {
    const ids = await createSome(5);
    const pages = await allPagesOf(service.api.listWebhooks, { limit: 2 });
    expect(pages.map(idsOf)).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    expect((await pageOf(service.api.listWebhooks({ limit: 5 }))).nextCursor).toBeNull();
  });

  it('has 50 rows on a page by default', async () => {
    await createSome(51);
    const pages = await allPagesOf(service.api.listWebhooks);
    expect(pages.map(({ length }) => length)).toEqual([50, 1]);
    expect((await pageOf(service.api.listWebhooks({ limit: 250 }))).rows).toHaveLength(51);
  });

  it('neither skips nor repeats a row when all were created at the same time', async () => {
    const ids = await createSome(7);
    await service.database.query('update webhook_service.webhooks set created_at = now()');
    const pages = await allPagesOf(service.api.listWebhooks, { limit: 2 });
    expect(idsOf(pages.flat()).sort()).toEqual([...ids].sort());
    expect(new Set(pages.flat().map(({ createdAt }) => createdAt)).size).toBe(1);
  });

  it('neither skips nor repeats a row while others come and go', async () => {
    const ids = await createSome(6);
    const first = await pageOf(service.api.listWebhooks({ limit: 3 }));
    await createSome(2);
    await dataOf(service.api.deleteWebhook(first.rows[2]!.id));
    const rest = await allPagesOf(service.api.listWebhooks, { limit: 2 }, first.nextCursor!);
    expect([...idsOf(first.rows), ...idsOf(rest.flat())]).toEqual(ids);
  });

  it('can be narrowed to active ones and to those of an event', async () => {
    const plain = await subscribe(service.api, DESTINATION, ['job.started']);
    const inactive = await subscribe(service.api, DESTINATION, ['job.completed'], { active: false });
    const both = await subscribe(service.api, DESTINATION, ['job.started', 'job.completed']);
    const list = async (query: Record<string, string>) => idsOf((await pageOf(service.api.listWebhooks(query))).rows);
    expect(await list({ active: 'true' })).toEqual([both.id, plain.id]);
    expect(await list({ active: 'false' })).toEqual([inactive.id]);
    expect(await list({ event: 'job.completed' })).toEqual([both.id, inactive.id]);
    expect(await list({ event: 'job.completed', active: 'true' })).toEqual([both.id]);
    expect(await list({ event: 'follower.lost' })).toEqual([]);
  });

  it.each(['0', '-1', '251', '1000000000', 'abc', '1.5', '', ' 5'])('refuses the limit %j', async (limit) => {
    expect(await errorOf(service.api.listWebhooks({ limit }), 400)).toBe('limit must be a whole number from 1 to 250');
  });

  it('refuses a NUL in the event, which no database takes', async () => {
    for (const path of ['/api/webhooks', '/api/events', `/api/webhooks/${UNKNOWN_ID}/deliveries`]) {
      expect(await errorOf(service.api.call('GET', path, { query: { event: '\u0000' } }), 400)).toMatch(/event/);
    }
  });

  it('refuses an active that is neither true nor false', async () => {
    expect(await errorOf(service.api.listWebhooks({ active: 'maybe' }), 400)).toMatch(/active/);
  });

  it('refuses a cursor that is forged, of another user, of other filters or of another list', async () => {
    const ids = await createSome(3);
    await subscribe(stranger, DESTINATION, ['job.started']);
    const cursor = (await pageOf(service.api.listWebhooks({ limit: 1 }))).nextCursor!;
    const half = Math.floor(cursor.length / 2);
    const tampered = cursor.slice(0, half) + (cursor[half] === 'A' ? 'B' : 'A') + cursor.slice(half + 1);
    for (const forged of [tampered, cursor.slice(0, -4), `${cursor}AAAA`, 'x', ids[0]!, '{"id":1}', 'a'.repeat(2000)]) {
      expect(await errorOf(service.api.listWebhooks({ cursor: forged }), 400)).toMatch(/cursor/);
    }
    expect(await errorOf(stranger.listWebhooks({ limit: 1, cursor }), 400)).toMatch(/cursor/);
    expect(await errorOf(service.api.listWebhooks({ limit: 1, active: true, cursor }), 400)).toMatch(/cursor/);
    expect(await errorOf(service.api.listWebhooks({ limit: 1, event: 'job.started', cursor }), 400)).toMatch(/cursor/);
    expect(await errorOf(service.api.listDeliveries(ids[0]!, { limit: 1, cursor }), 400)).toMatch(/cursor/);
    expect(await errorOf(service.api.listEvents({ limit: 1, cursor }), 400)).toMatch(/cursor/);
  });

  it('takes a cursor back with another limit', async () => {
    const ids = await createSome(4);
    const { nextCursor } = await pageOf(service.api.listWebhooks({ limit: 1 }));
    expect(idsOf((await pageOf(service.api.listWebhooks({ limit: 3, cursor: nextCursor! }))).rows)).toEqual(
      ids.slice(1),
    );
  });
});

describe('The limit of webhooks a user', () => {
  const service = useService({ MAX_WEBHOOKS_PER_USER: '3' });
  const create = () => service.api.createWebhook({ ...DESTINATION, events: ['job.started'] });
  afterEach(() => deleteWebhooks(service.api));

  it('is a 409 that names it, until one is deleted', async () => {
    const { id } = await dataOf(create(), 201);
    await dataOf(create(), 201);
    await dataOf(create(), 201);
    expect(await errorOf(create(), 'webhook_limit_reached')).toContain('3');
    await dataOf(service.api.deleteWebhook(id));
    await dataOf(create(), 201);
  });

  it('also holds for twelve concurrent requests', async () => {
    const replies = await Promise.all(Array.from({ length: 12 }, create));
    const count = (status: number) => replies.filter((reply) => reply.status === status).length;
    expect([count(201), count(409)]).toEqual([3, 9]);
    expect((await pageOf(service.api.listWebhooks())).rows).toHaveLength(3);
  });
});
