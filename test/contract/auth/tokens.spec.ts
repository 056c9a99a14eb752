import { allPagesOf, type Api, type CreatedAccessToken, dataOf, errorOf, pageOf } from '../../support/api';
import { startService, useService } from '../../support/service';
import { ISO_UTC, UNKNOWN_ID, UUID_V7 } from '../../e2e/stage/examples';
import { HOUR_MS } from '../../../src/infrastructure/config/durations';

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

describe('An access token', () => {
  const service = useService();
  let users = 0;

  const make = (by: Api, more: Record<string, unknown> = {}): Promise<CreatedAccessToken> =>
    dataOf(by.createToken({ name: 'a test', scopes: ['webhooks:read'], ...more }), 201);
  const speaker = ({ token }: { token: string }) => service.api.withToken(token);
  /** A new user with a token of these scopes. */
  const newUser = async (scopes: string[], more: Record<string, unknown> = {}) => {
    const created = await make(service.api, { userId: `user-${++users}`, scopes, ...more });
    return { ...created, api: speaker(created) };
  };

  it('is shown once, does what its scopes say, and is hashed in the database', async () => {
    const expiresAt = '2099-12-31T23:59:59.123Z';
    const wanted = { name: 'Bäckend, production', userId: 'shown@example.com', scopes: ['webhooks:read'], expiresAt };
    const { token, ...created } = await make(service.api, wanted);
    expect(token).toMatch(/^wns_[A-Za-z0-9_-]{43}$/);
    expect(created).toEqual({
      ...wanted,
      madeBy: null,
      session: false,
      id: expect.stringMatching(UUID_V7),
      createdAt: expect.stringMatching(ISO_UTC),
      lastUsedAt: null,
    });
    expect(await dataOf(speaker({ token }).me())).toEqual({
      tokenId: created.id,
      userId: wanted.userId,
      scopes: wanted.scopes,
      expiresAt,
    });
    await dataOf(speaker({ token }).listWebhooks());
    expect(await errorOf(speaker({ token }).createWebhook({}), 403)).toContain('webhooks:write');
    const { rows } = await pageOf(service.api.listTokens({ userId: wanted.userId }));
    expect(rows).toEqual([{ ...created, lastUsedAt: expect.stringMatching(ISO_UTC) }]);
    const [stored] = await service.database.query<{ text: string }>(
      `select to_jsonb(t)::text || encode(token_hash, 'escape') as text from webhook_service.access_tokens t
       where user_id = $1`,
      [wanted.userId],
    );
    expect(stored!.text).not.toContain(token.slice(4));
    expect(service.logs()).not.toContain(token.slice(4));
  });

  it('takes an expiry with an offset', async () => {
    const { expiresAt } = await make(service.api, { expiresAt: '2099-01-15T10:30:00+01:00' });
    expect(expiresAt).toBe('2099-01-15T09:30:00.000Z');
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['no name', { name: undefined }, /name/],
    ['an empty name', { name: '' }, /name/],
    ['a name that is too long', { name: 'x'.repeat(129) }, /name/],
    ['a name that is no text', { name: 5 }, /name/],
    ['NUL in the name', { name: 'a\0b' }, /name/],
    ['half a character in the name', { name: 'a\ud800b' }, /name/],
    ['no scopes', { scopes: undefined }, /scopes/],
    ['an empty list of scopes', { scopes: [] }, /scopes/],
    ['more scopes than there are', { scopes: Array(12).fill('webhooks:read') }, /scopes/],
    ['an unknown scope', { scopes: ['webhooks:fly'] }, /scopes/],
    ['scopes that are text', { scopes: 'webhooks:read' }, /scopes/],
    ['an expiry that is past', { expiresAt: '2026-01-15T09:30:00Z' }, /expiresAt/],
    ['an expiry without an offset', { expiresAt: '2099-01-15T09:30:00' }, /expiresAt/],
    ['an expiry in another year than has four digits', { expiresAt: '9999-12-31T23:59:00-01:00' }, /expiresAt/],
    ['an expiry that is a number', { expiresAt: 4_000_000_000 }, /expiresAt/],
    ['an impossible user', { userId: 'a b' }, /userId/],
    ['null for the user', { userId: null }, /userId/],
    ['an unknown field', { parentId: UNKNOWN_ID }, /parentId/],
    ['a token of its own', { token: `wns_${'A'.repeat(43)}` }, /token/],
  ])('is not made with %s', async (_, more, message) => {
    const body = { name: 'a test', scopes: ['webhooks:read'], ...more };
    expect(await errorOf(service.api.createToken(body), 400)).toMatch(message);
  });

  it('has a scope once that is named twice', async () => {
    const wanted = { name: 'a test', scopes: ['webhooks:read', 'webhooks:read'] };
    expect((await dataOf(service.api.createToken(wanted), 201)).scopes).toEqual(['webhooks:read']);
  });

  it('gets no scope that the token creating it lacks', async () => {
    const { api } = await newUser(['tokens:manage', 'webhooks:read']);
    await make(api, { scopes: ['tokens:manage', 'webhooks:read'] });
    const greedy = api.createToken({ name: 'x', scopes: ['webhooks:read', 'webhooks:write'] });
    expect(await errorOf(greedy, 403)).toContain('webhooks:write');
  });

  it('does not outlive the token creating it, not even without an expiry of its own', async () => {
    const expiresAt = inMs(HOUR_MS);
    const { api } = await newUser(['tokens:manage'], { expiresAt });
    const wanted = { name: 'x', scopes: ['tokens:manage'] };
    const later = new Date(Date.parse(expiresAt) + 1).toISOString();
    for (const beyond of [later, null, undefined]) {
      expect(await errorOf(api.createToken({ ...wanted, expiresAt: beyond }), 400)).toContain(expiresAt);
    }
    expect(await make(api, { ...wanted, expiresAt })).toMatchObject({ expiresAt });
  });

  it('of another user takes users:manage, for making, listing and revoking it', async () => {
    const [owner, manager, other] = [
      await newUser(['tokens:manage', 'webhooks:read']),
      await newUser(['users:manage', 'webhooks:read']),
      await newUser(['tokens:manage', 'webhooks:read']),
    ];
    const { userId } = owner;
    expect(await errorOf(other.api.createToken({ name: 'x', scopes: ['webhooks:read'], userId }), 403)).toContain(
      'users:manage',
    );
    expect(await errorOf(other.api.listTokens({ userId }), 403)).toContain('users:manage');
    expect(await errorOf(other.api.revokeToken(owner.id), 'not_found')).toBe(
      await errorOf(other.api.revokeToken(UNKNOWN_ID), 404),
    );
    const made = await make(manager.api, { userId });
    expect(made.userId).toBe(userId);
    const { rows } = await pageOf(manager.api.listTokens({ userId }));
    expect(rows.map(({ id }) => id)).toEqual([made.id, owner.id]);
    expect(await dataOf(manager.api.revokeToken(owner.id))).toEqual({ id: owner.id });
    await errorOf(owner.api.me(), 401);
  });

  it('of oneself takes tokens:manage, also of who manages others', async () => {
    const { api, id } = await newUser(['users:manage', 'webhooks:read']);
    expect(await errorOf(api.createToken({ name: 'x', scopes: ['webhooks:read'] }), 403)).toContain('tokens:manage');
    expect(await errorOf(api.listTokens(), 403)).toContain('tokens:manage');
    await errorOf(api.revokeToken(id), 404);
    const neither = await newUser(['webhooks:read']);
    for (const call of [api.createToken({}), neither.api.createToken({}), neither.api.listTokens()]) {
      expect([400, 403]).toContain((await call).status);
    }
    expect(await errorOf(neither.api.revokeToken(neither.id), 403)).toMatch(/tokens:manage/);
  });

  it('of admin can be created, listed and revoked by admin alone', async () => {
    const manager = await newUser(['users:manage', 'webhooks:read']);
    const wanted = { name: 'x', scopes: ['webhooks:read'], userId: 'admin' };
    expect(await errorOf(manager.api.createToken(wanted), 'admin_reserved')).toContain('BOOTSTRAP_TOKEN');
    const own = await make(service.api, { userId: 'admin' });
    expect(own.userId).toBe('admin');
    expect(await errorOf(manager.api.listTokens({ userId: 'admin' }), 403)).toContain('BOOTSTRAP_TOKEN');
    await errorOf(manager.api.revokeToken(own.id), 404);
    await dataOf(speaker(own).me());
  });

  it('that is in constant use is refused at once after its revocation', async () => {
    for (let round = 1; round <= 5; round++) {
      const { api, id } = await newUser(['webhooks:read']);
      // More often than a token is looked up.
      for (let i = 0; i < 8; i++) await dataOf(api.me());
      await dataOf(service.api.revokeToken(id));
      await errorOf(api.me(), 401);
    }
  });

  it('can revoke itself, which at once revokes all tokens created with it', async () => {
    const root = await newUser(['tokens:manage', 'users:manage', 'webhooks:read']);
    const child = await make(root.api, { scopes: ['tokens:manage', 'webhooks:read'] });
    const grandchild = await make(speaker(child));
    const elsewhere = await make(root.api, { userId: 'elsewhere' });
    const sibling = await make(service.api, { userId: root.userId });
    expect([child.madeBy, grandchild.madeBy, sibling.madeBy]).toEqual([root.id, child.id, null]);
    const live = (tokens: { token: string }[]) =>
      Promise.all(tokens.map(async (token) => (await speaker(token).me()).status));
    expect(await live([root, child, grandchild, elsewhere, sibling])).toEqual([200, 200, 200, 200, 200]);
    expect(await dataOf(speaker(child).revokeToken(child.id))).toEqual({ id: child.id });
    expect(await live([root, child, grandchild, elsewhere, sibling])).toEqual([200, 401, 401, 200, 200]);
    await dataOf(service.api.revokeToken(root.id));
    expect(await live([root, elsewhere, sibling])).toEqual([401, 401, 200]);
    await errorOf(service.api.revokeToken(root.id), 404);
  });

  it('with tokens:manage can revoke every token of its user, including the one that created it', async () => {
    const parent = await newUser(['tokens:manage', 'webhooks:read']);
    const child = await make(parent.api, { scopes: ['tokens:manage', 'webhooks:read'] });
    await dataOf(speaker(child).revokeToken(parent.id));
    expect((await parent.api.me()).status).toBe(401);
  });

  it('that is revoked while it makes others leaves none behind', async () => {
    const root = await newUser(['tokens:manage']);
    const wanted = { name: 'x', scopes: ['tokens:manage'] };
    const replies = await Promise.all([
      ...Array.from({ length: 10 }, () => root.api.createToken(wanted)),
      service.api.revokeToken(root.id),
      ...Array.from({ length: 10 }, () => root.api.createToken(wanted)),
    ]);
    expect(replies.filter(({ status }) => ![200, 201, 401].includes(status))).toEqual([]);
    expect((await pageOf(service.api.listTokens({ userId: root.userId }))).rows).toEqual([]);
  });

  it('is one of at most 100 live ones of a user, also when they are made at once', async () => {
    const owner = await newUser(['tokens:manage']);
    const wanted = { name: 'x', scopes: ['tokens:manage'] };
    const statuses = await Promise.all(
      Array.from({ length: 110 }, async () => (await owner.api.createToken(wanted)).status),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(99);
    expect(statuses.filter((status) => status === 409)).toHaveLength(11);
    expect(await errorOf(service.api.createToken({ ...wanted, userId: owner.userId }), 'token_limit_reached')).toMatch(
      /100/,
    );
    await service.database.query(
      `update webhook_service.access_tokens set expires_at = now() where user_id = $1 and id <> $2`,
      [owner.userId, owner.id],
    );
    expect((await pageOf(owner.api.listTokens())).rows.map(({ id }) => id)).toEqual([owner.id]);
    await make(owner.api, wanted);
    expect((await pageOf(owner.api.listTokens())).rows).toHaveLength(2);
  });

  it('works again when a clock that was ahead is right, unless a hundred newer ones have expired', async () => {
    const owner = await newUser(['tokens:manage']);
    const expire = (until: string) =>
      service.database.query(
        `update webhook_service.access_tokens set expires_at = ${until} where user_id = $1 and id <> $2`,
        [owner.userId, owner.id],
      );
    const old = await make(owner.api, { scopes: ['tokens:manage'], name: 'old' });
    const hour = await make(owner.api, { scopes: ['tokens:manage'], name: 'for an hour', expiresAt: inMs(HOUR_MS) });
    await expire('now()');
    await make(owner.api, { scopes: ['tokens:manage'] });
    await expire(`now() + interval '1 hour'`);
    expect(await dataOf(owner.api.withToken(hour.token).me())).toMatchObject({ userId: owner.userId });
    for (const count of [50, 48, 1]) {
      await expire('now()');
      for (let i = 0; i < count; i++) await make(owner.api, { scopes: ['tokens:manage'] });
    }
    await expire('null');
    await errorOf(owner.api.withToken(old.token).me(), 401);
    expect(await dataOf(owner.api.withToken(hour.token).me())).toMatchObject({ userId: owner.userId });
  });

  it('is listed on a page, newest first, under a cursor of its own user and list', async () => {
    const owner = await newUser(['tokens:manage']);
    for (let i = 0; i < 4; i++) await make(owner.api, { scopes: ['tokens:manage'], name: `token ${i}` });
    const pages = await allPagesOf(owner.api.listTokens, { limit: 2 });
    expect(pages.map((rows) => rows.map(({ name }) => name))).toEqual([
      ['token 3', 'token 2'],
      ['token 1', 'token 0'],
      ['a test'],
    ]);
    expect(JSON.stringify(pages)).not.toMatch(/wns_/);
    const { nextCursor } = await pageOf(owner.api.listTokens({ limit: 2 }));
    const cursor = nextCursor ?? '';
    await errorOf(service.api.listTokens({ cursor, userId: owner.userId }), 400);
    await errorOf(owner.api.listTokens({ userId: 'a b' }), 400);
  });

  it('that BOOTSTRAP_TOKEN made stays when that setting goes, and its revocation holds at once everywhere', async () => {
    // Another process on the same database, with a BOOTSTRAP_TOKEN of its own.
    const other = await startService({}, service.database);
    try {
      const made = await make(service.api, { userId: 'kept' });
      const there = other.api.withToken(made.token);
      expect(await dataOf(there.me())).toMatchObject({ userId: 'kept' });
      await errorOf(other.api.withToken(service.token).me(), 401);
      await dataOf(service.api.revokeToken(made.id));
      await errorOf(there.me(), 401);
    } finally {
      await other.stop();
    }
  });
});
