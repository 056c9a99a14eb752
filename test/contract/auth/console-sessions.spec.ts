import { randomUUID } from 'node:crypto';
import { type Api, type ConsoleLink, dataOf, errorOf, pageOf } from '../../support/api';
import { AUDIENCE, ISSUER, makeKey, sign, startIdentityProvider } from '../../support/identity-provider';
import { startService, useService } from '../../support/service';
import { HOUR_MS } from '../../../src/infrastructure/config/durations';

const READ = ['webhooks:read'];
const MANAGE = ['tokens:manage', 'webhooks:read'];
const hoursUntil = (at: string) => (Date.parse(at) - Date.now()) / HOUR_MS;
const codeOf = ({ url }: ConsoleLink) => url.split('#code=')[1]!;

describe('A session at the console', () => {
  const service = useService();
  const speaker = ({ token }: { token: string }) => service.api.withToken(token);
  const open = (api: Api) => dataOf(api.beginSession({}), 201);
  let userId: string;
  let api: Api;
  beforeEach(async () => {
    userId = `user-${randomUUID()}`;
    api = await service.apiFor(userId, READ);
  });

  it('is made of any token, for 12 hours, with its scopes, and ends with it', async () => {
    const session = await open(api);
    expect(session).toMatchObject({ userId, scopes: READ, token: expect.stringMatching(/^wns_[A-Za-z0-9_-]{43}$/) });
    expect(hoursUntil(session.expiresAt)).toBeGreaterThan(11.9);
    expect(hoursUntil(session.expiresAt)).toBeLessThanOrEqual(12);
    const { tokenId } = await dataOf(api.me());
    const me = await dataOf(speaker(session).me());
    expect(me).toMatchObject({ userId, scopes: READ, expiresAt: session.expiresAt });
    const { rows } = await pageOf(service.api.listTokens({ userId }));
    expect(rows.find(({ id }) => id === me.tokenId)).toMatchObject({ session: true, madeBy: tokenId });
    await dataOf(service.api.revokeToken(tokenId!));
    await errorOf(speaker(session).me(), 401);
  });

  it('takes no body', async () => {
    expect(await dataOf(api.call('POST', '/api/console-sessions'), 201)).toMatchObject({ userId });
  });

  it('does not outlive its token', async () => {
    const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
    const short = await dataOf(service.api.createToken({ name: 'short', userId, scopes: READ, expiresAt }), 201);
    expect(await open(speaker(short))).toMatchObject({ expiresAt });
  });

  it('is not made without a live token, and each attempt counts as a failed authentication', async () => {
    const strict = await startService({ AUTH_FAILURES_PER_MINUTE: '3' });
    try {
      for (const token of [null, `wns_${'A'.repeat(43)}`, 'no.jwt.here']) {
        const reply = await strict.api.withToken(token).beginSession({});
        expect(reply).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer realm="api"' } });
      }
      await errorOf(strict.api.withToken(null).beginSession({ more: 1 }), 429);
      expect(await errorOf(strict.api.beginSession({ more: 1 }), 400)).toMatch(/more/);
      expect(await errorOf(strict.api.withToken(null).beginSession({ code: null }), 400)).toMatch(/code must be/);
    } finally {
      await strict.stop();
    }
  });

  it('is had for the code of a link also by a client that sends its token, good or bad', async () => {
    const maker = await service.apiFor(userId, MANAGE);
    for (const token of [service.token, 'bad']) {
      const link = await dataOf(maker.createConsoleLink({}), 201);
      const reply = service.api.withToken(token).beginSession({ code: codeOf(link) });
      expect(await dataOf(reply, 201)).toMatchObject({ userId });
    }
  });

  it('cannot create another session', async () => {
    const maker = await service.apiFor(userId, MANAGE);
    const byToken = await open(maker);
    const link = await dataOf(maker.createConsoleLink({ scopes: MANAGE }), 201);
    const byLink = await dataOf(service.api.withToken(null).beginSession({ code: codeOf(link) }), 201);
    for (const session of [byToken, byLink]) {
      expect(await errorOf(speaker(session).beginSession({}), 'session_of_session')).toMatch(/session/);
    }
    // Other tokens that a session creates are ordinary ones.
    const made = await dataOf(speaker(byToken).createToken({ name: 'x', scopes: READ }), 201);
    expect(await open(speaker(made))).toMatchObject({ scopes: READ });
  });

  it('makes tokens that outlive it, and end with the token that it was made with', async () => {
    const expiresAt = new Date(Date.now() + 48 * HOUR_MS).toISOString();
    const maker = await dataOf(service.api.createToken({ name: 'm', userId, scopes: MANAGE, expiresAt }), 201);
    const link = await dataOf(speaker(maker).createConsoleLink({ scopes: MANAGE }), 201);
    const byLink = await dataOf(service.api.withToken(null).beginSession({ code: codeOf(link) }), 201);
    const made = [];
    for (const session of [await open(speaker(maker)), byLink]) {
      const create = (more: object) => speaker(session).createToken({ name: 'x', scopes: READ, ...more });
      expect(await errorOf(create({ scopes: ['webhooks:write'] }), 403)).toMatch(/webhooks:write/);
      expect(await errorOf(create({}), 400)).toContain(expiresAt);
      const token = await dataOf(create({ expiresAt }), 201);
      expect(token).toMatchObject({ madeBy: maker.id, session: false, expiresAt });
      await dataOf(speaker(session).endSession());
      made.push(token);
    }
    for (const token of made) await dataOf(speaker(token).me());
    await dataOf(service.api.revokeToken(maker.id));
    for (const token of made) await errorOf(speaker(token).me(), 401);
  });

  it('leaves no token behind whose maker is revoked meanwhile', async () => {
    const maker = await dataOf(service.api.createToken({ name: 'm', userId, scopes: MANAGE }), 201);
    const session = speaker(await open(speaker(maker)));
    const create = () => session.createToken({ name: 'x', scopes: READ });
    const replies = await Promise.all([
      ...Array.from({ length: 10 }, create),
      service.api.revokeToken(maker.id),
      ...Array.from({ length: 10 }, create),
    ]);
    expect(replies.filter(({ status }) => ![200, 201, 401].includes(status))).toEqual([]);
    const { rows } = await pageOf(service.api.listTokens({ userId }));
    expect(rows.filter(({ name }) => name === 'x')).toEqual([]);
  });

  it('is one of 20 of a user: the 21st ends the oldest, and none of the 100 tokens', async () => {
    const maker = await service.apiFor(userId, MANAGE);
    // The user has two tokens of its own.
    for (let i = 2; i < 100; i++) await dataOf(maker.createToken({ name: 'x', scopes: READ }), 201);
    const sessions = [];
    for (let i = 0; i < 21; i++) sessions.push(await open(maker));
    const [oldest, ...others] = sessions;
    await errorOf(speaker(oldest!).me(), 401);
    for (const session of others) await dataOf(speaker(session).me());
    expect(await errorOf(maker.createToken({ name: 'x', scopes: READ }), 409)).toMatch(/100/);
  });

  it('is not left behind by a token that is revoked while it makes sessions', async () => {
    const { tokenId } = await dataOf(api.me());
    const begin = () => api.beginSession({});
    const replies = await Promise.all([
      ...Array.from({ length: 10 }, begin),
      service.api.revokeToken(tokenId!),
      ...Array.from({ length: 10 }, begin),
    ]);
    expect(replies.filter(({ status }) => ![200, 201, 401].includes(status))).toEqual([]);
    expect((await pageOf(service.api.listTokens({ userId }))).rows).toEqual([]);
  });

  it('of BOOTSTRAP_TOKEN ends when that setting changes, and so do its tokens', async () => {
    const first = await startService({}, service.database);
    const session = await open(first.api);
    expect(session).toMatchObject({ userId: 'admin' });
    const me = await dataOf(first.api.withToken(session.token).me());
    const rows = (await pageOf(first.api.listTokens())).rows.filter(({ id }) => id === me.tokenId);
    expect(rows).toMatchObject([{ session: true, madeBy: null, expiresAt: session.expiresAt }]);
    const made = await dataOf(first.api.withToken(session.token).createToken({ name: 'x', scopes: READ }), 201);
    expect(made).toMatchObject({ userId: 'admin', madeBy: null, session: false, expiresAt: null });
    await dataOf(first.api.withToken(session.token).endSession());
    await dataOf(first.api.withToken(made.token).me());
    expect(await dataOf(first.api.about())).toMatchObject({ bootstrapToken: true });
    expect(
      await dataOf(speaker(await dataOf(first.api.createToken({ name: 'x', userId, scopes: READ }), 201)).about()),
    ).toMatchObject({ bootstrapToken: false });
    await first.stop();
    // Each start has another one.
    const second = await startService({}, service.database);
    await errorOf(second.api.withToken(made.token).me(), 401);
    await second.stop();
  });

  it('of a JWT lives no longer than the JWT', async () => {
    const key = await makeKey('one');
    const provider = await startIdentityProvider(key);
    const strict = await startService({ AUTH_JWKS_URL: provider.url, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE });
    const jwtUntil = async (exp: number) =>
      strict.api.withToken(await sign(key, { sub: userId, exp, scope: 'webhooks:read tokens:manage' }));
    try {
      const now = Math.floor(Date.now() / 1000);
      const jwt = await jwtUntil(now + 1800);
      const session = await open(jwt);
      const expiresAt = new Date((now + 1800) * 1000).toISOString();
      expect(session).toMatchObject({ userId, scopes: ['webhooks:read', 'tokens:manage'], expiresAt });
      const inSession = strict.api.withToken(session.token);
      expect(await errorOf(inSession.createToken({ name: 'x', scopes: READ }), 400)).toContain(expiresAt);
      const made = await dataOf(inSession.createToken({ name: 'x', scopes: READ, expiresAt }), 201);
      expect(made.madeBy).toBe((await dataOf(inSession.me())).tokenId);
      await dataOf(inSession.endSession());
      await errorOf(strict.api.withToken(made.token).me(), 401);
      expect(await errorOf(jwt.endSession(), 'not_a_session')).toMatch(/not a console session/);
      const long = await open(await jwtUntil(now + 7 * 86_400));
      expect(hoursUntil(long.expiresAt)).toBeLessThanOrEqual(12);
      // Clocks may differ by some seconds: such a JWT is taken a little longer, but its session would be over.
      const late = await jwtUntil(Math.floor(Date.now() / 1000) - 1);
      await dataOf(late.me());
      await errorOf(late.beginSession({}), 401);
    } finally {
      await strict.stop();
      await provider.stop();
    }
  });

  it('can end itself whatever its scopes, in every process at once, and its token stays valid', async () => {
    const other = await startService({}, service.database);
    try {
      const [session, sibling] = [await open(api), await open(api)];
      const [here, there] = [speaker(session), other.api.withToken(session.token)];
      const { tokenId } = await dataOf(here.me());
      // More often than a token is looked up.
      for (let i = 0; i < 8; i++) await Promise.all([dataOf(here.me()), dataOf(there.me())]);
      expect(await dataOf(here.endSession())).toEqual({ id: tokenId });
      await errorOf(here.me(), 401);
      const endedAt = performance.now();
      // Only requests that were sent a second later, ten times the promise, must be refused, however long an answer takes.
      for (let sentAt = endedAt; (await there.me()).status !== 401; sentAt = performance.now())
        expect(sentAt - endedAt).toBeLessThan(1000);
      await errorOf(here.endSession(), 401);
      await dataOf(speaker(sibling).me());
      await dataOf(api.me());
    } finally {
      await other.stop();
    }
  });

  it('is the only token that ends itself without tokens:manage', async () => {
    for (const token of [api, service.api]) {
      expect(await errorOf(token.endSession(), 409)).toMatch(/not a console session/);
      await dataOf(token.me());
    }
    await errorOf(service.api.withToken(null).endSession(), 401);
  });
});
