import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { type Api, type ConsoleLink, dataOf, errorOf, pageOf } from '../../support/api';
import { AUDIENCE, ISSUER, makeKey, sign, startIdentityProvider } from '../../support/identity-provider';
import { startService, useService } from '../../support/service';

const DAY_S = 86_400;
const MINE = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'tokens:manage'];
const ORDINARY = ['webhooks:read', 'webhooks:write', 'deliveries:read'];
const codeOf = ({ url }: ConsoleLink) => url.split('#code=')[1]!;

describe('A link to the console', () => {
  const service = useService();
  let userId: string;
  let api: Api;
  const anybody = () => service.api.withToken(null);
  const begin = (link: ConsoleLink) => anybody().beginSession({ code: codeOf(link) });
  beforeEach(async () => {
    userId = `user-${randomUUID()}`;
    api = await service.apiFor(userId, MINE);
  });

  it('signs its user in, once, as a token that ends with the one that made it', async () => {
    const link = await dataOf(api.createConsoleLink({}), 201);
    expect(link.url).toMatch(/^\/console#code=[A-Za-z0-9_-]{43}$/);
    const session = await dataOf(begin(link), 201);
    expect(session).toMatchObject({ userId, scopes: ORDINARY, expiresAt: link.expiresAt });
    const hours = (Date.parse(link.expiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThanOrEqual(12);
    const signedIn = api.withToken(session.token);
    const me = await dataOf(signedIn.me());
    expect(me).toMatchObject({ userId, scopes: ORDINARY, expiresAt: link.expiresAt });
    const { tokenId } = await dataOf(api.me());
    const { rows } = await pageOf(api.listTokens());
    expect(rows.find(({ id }) => id === me.tokenId)).toMatchObject({ session: true, madeBy: tokenId });
    expect(rows.find(({ id }) => id === tokenId)).toMatchObject({ session: false });
    expect(await errorOf(begin(link), 'link_invalid')).toMatch(/link/);
    await dataOf(service.api.revokeToken(tokenId!));
    await errorOf(signedIn.me(), 401);
  });

  it('gives a session to only one of fifty concurrent requests', async () => {
    const link = await dataOf(api.createConsoleLink({}), 201);
    const replies = await Promise.all(Array.from({ length: 50 }, () => begin(link)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(49);
  });

  it('leads to a page of the console, and to nowhere else', async () => {
    for (const path of ['/console/deliveries?status=failed&since=2026-01-15T09:30:00.000Z', '/console/webhooks/x_-~']) {
      expect((await dataOf(api.createConsoleLink({ path }), 201)).url.startsWith(`${path}#code=`)).toBe(true);
    }
    const others = [
      '//evil.example',
      '/console//evil.example',
      '/console/../docs',
      'https://evil.example',
      '/console#x',
      '/consolex',
      '/console/',
    ];
    for (const path of others) expect(await errorOf(api.createConsoleLink({ path }), 400)).toMatch(/path must be/);
  });

  it('grants no scope that its creator lacks, and never tokens:manage for another user', async () => {
    const poor = await service.apiFor(userId, ['tokens:manage', 'webhooks:read']);
    expect(await dataOf(begin(await dataOf(poor.createConsoleLink({}), 201)), 201)).toMatchObject({
      scopes: ['webhooks:read'],
    });
    expect(await errorOf(poor.createConsoleLink({ scopes: ['deliveries:read'] }), 403)).toMatch(/deliveries:read/);
    const nothing = await service.apiFor(userId, ['tokens:manage']);
    expect(await errorOf(nothing.createConsoleLink({}), 403)).toMatch(/webhooks:read/);
    expect(await errorOf(api.createConsoleLink({ userId: 'another' }), 403)).toMatch(/users:manage/);
    const provider = await service.apiFor(userId, [...MINE, 'users:manage']);
    const forOther = await dataOf(provider.createConsoleLink({ userId: `other-${userId}` }), 201);
    expect(await dataOf(begin(forOther), 201)).toMatchObject({ userId: `other-${userId}`, scopes: ORDINARY });
    for (const scope of ['tokens:manage', 'users:manage']) {
      const wanted = { userId: `other-${userId}`, scopes: ['webhooks:read', scope] };
      expect(await errorOf(provider.createConsoleLink(wanted), 'scope_not_allowed')).toMatch(/tokens/);
    }
    expect(await errorOf(provider.createConsoleLink({ userId: 'admin' }), 403)).toMatch(/admin/);
    expect(await dataOf(begin(await dataOf(api.createConsoleLink({ scopes: MINE }), 201)), 201)).toMatchObject({
      scopes: MINE,
    });
  });

  it('lives no longer than its maker: shorter by itself, refused when asked for', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { token } = await dataOf(api.createToken({ name: 'short', scopes: MINE, expiresAt }), 201);
    const short = api.withToken(token);
    expect(await dataOf(short.createConsoleLink({}), 201)).toMatchObject({ expiresAt });
    expect(await errorOf(short.createConsoleLink({ expiresInSeconds: DAY_S }), 400)).toMatch(expiresAt);
    await dataOf(short.createConsoleLink({ expiresInSeconds: 300 }), 201);
    const week = await dataOf(api.createConsoleLink({ expiresInSeconds: 7 * DAY_S }), 201);
    expect(Date.parse(week.expiresAt) - Date.now()).toBeGreaterThan(6.9 * DAY_S * 1000);
    for (const expiresInSeconds of [299, 7 * DAY_S + 1]) {
      expect(await errorOf(api.createConsoleLink({ expiresInSeconds }), 400)).toMatch(/300 to 604800/);
    }
  });

  it.each([
    ['has expired', `update webhook_service.console_links set code_expires_at = now() where user_id = $1`],
    [
      'was made by a token that has expired',
      `update webhook_service.access_tokens set expires_at = now() where user_id = $1`,
    ],
    ['was made by a token that is revoked', `delete from webhook_service.access_tokens where user_id = $1`],
  ])('is of no use when it %s', async (_, sql) => {
    const link = await dataOf(api.createConsoleLink({}), 201);
    await service.database.query(sql, [userId]);
    expect(await errorOf(begin(link), 401)).toMatch(/link/);
  });

  it('takes no more than 20 sessions of a user: the 21st ends the oldest, and none of the 100 tokens', async () => {
    const tokens: string[] = [];
    for (let i = 0; i < 21; i++)
      tokens.push((await dataOf(begin(await dataOf(api.createConsoleLink({}), 201)), 201)).token);
    await errorOf(api.withToken(tokens[0]!).me(), 401);
    for (const token of tokens.slice(1)) await dataOf(api.withToken(token).me());
    // The user has one token of its own.
    for (let i = 1; i < 100; i++) await dataOf(api.createToken({ name: 'x', scopes: ['webhooks:read'] }), 201);
    expect(await errorOf(api.createToken({ name: 'x', scopes: ['webhooks:read'] }), 409)).toMatch(/100/);
    await dataOf(begin(await dataOf(api.createConsoleLink({}), 201)), 201);
  });

  it('stores neither code nor token', async () => {
    const link = await dataOf(api.createConsoleLink({}), 201);
    const rows = await service.database.query<{ row: string }>(
      'select l::text as row from webhook_service.console_links l',
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) expect(row).not.toContain(codeOf(link));
  });

  it('counts wrong codes as failed authentications, and still accepts a correct one', async () => {
    const strict = await startService({ AUTH_FAILURES_PER_MINUTE: '3' });
    try {
      const link = await dataOf(strict.api.createConsoleLink({}), 201);
      const signedOut = strict.api.withToken(null);
      const wrong = () => signedOut.beginSession({ code: 'x'.repeat(43) });
      for (let i = 0; i < 3; i++) expect(await errorOf(wrong(), 401)).toMatch(/link/);
      expect((await wrong()).headers['retry-after']).toBeDefined();
      await dataOf(signedOut.beginSession({ code: codeOf(link) }), 201);
      expect(await errorOf(signedOut.beginSession({ code: 'short' }), 400)).toMatch(/code must be/);
    } finally {
      await strict.stop();
    }
  });

  it('ends with the bootstrap token that made it, when that setting changes', async () => {
    const first = await startService({}, service.database);
    const [used, unused] = [
      await dataOf(first.api.createConsoleLink({}), 201),
      await dataOf(first.api.createConsoleLink({}), 201),
    ];
    const { token, userId: admin } = await dataOf(first.api.withToken(null).beginSession({ code: codeOf(used) }), 201);
    expect(admin).toBe('admin');
    await first.stop();
    // Each start has another one.
    const second = await startService({}, service.database);
    try {
      await errorOf(second.api.withToken(token).me(), 401);
      expect(await errorOf(second.api.withToken(null).beginSession({ code: codeOf(unused) }), 401)).toMatch(/link/);
    } finally {
      await second.stop();
    }
  });

  it('of a JWT lives no longer than the JWT', async () => {
    const key = await makeKey('one');
    const provider = await startIdentityProvider(key);
    const auth = { AUTH_JWKS_URL: provider.url, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE };
    const strict = await startService(auth);
    try {
      const exp = Math.floor(Date.now() / 1000) + 1800;
      const jwt = strict.api.withToken(await sign(key, { sub: userId, exp, scope: 'tokens:manage webhooks:read' }));
      const link = await dataOf(jwt.createConsoleLink({}), 201);
      expect(link.expiresAt).toBe(new Date(exp * 1000).toISOString());
      const session = await dataOf(strict.api.withToken(null).beginSession({ code: codeOf(link) }), 201);
      expect(session).toMatchObject({ userId, scopes: ['webhooks:read'], expiresAt: link.expiresAt });
      await dataOf(strict.api.withToken(session.token).me());
    } finally {
      await strict.stop();
      await provider.stop();
    }
  });

  it('keeps the database available while a client guesses many codes', async () => {
    const few = await startService({ DATABASE_POOL_SIZE: '2' });
    const locking = new Client({ connectionString: few.database.url });
    await locking.connect();
    try {
      await locking.query('begin; lock table webhook_service.console_links');
      let ended = 0;
      const guess = () =>
        few.api
          .withToken(null)
          .beginSession({ code: 'x'.repeat(43) })
          .finally(() => (ended += 1));
      const guesses = Array.from({ length: 10 }, guess);
      expect(await few.api.listWebhooks()).toMatchObject({ status: 200 });
      expect(ended).toBe(0);
      await locking.query('rollback');
      for (const { status } of await Promise.all(guesses)) expect([401, 429]).toContain(status);
    } finally {
      await locking.end();
      await few.stop();
    }
  });
});
