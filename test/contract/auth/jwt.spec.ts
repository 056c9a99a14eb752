import { createHmac } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { type Api, dataOf, errorOf, exchange } from '../../support/api';
import {
  AUDIENCE,
  type IdentityProvider,
  ISSUER,
  makeKey,
  sign,
  type SigningKey,
  startIdentityProvider,
} from '../../support/identity-provider';
import { freePort, useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const settings = (url: string) => ({
  AUTH_JWKS_URL: url,
  AUTH_ISSUER: ISSUER,
  AUTH_AUDIENCE: AUDIENCE,
  AUTH_FAILURES_PER_MINUTE: '0',
});

describe('A JWT of the identity provider', () => {
  let key: SigningKey;
  let provider: IdentityProvider;

  beforeAll(async () => {
    key = await makeKey('first');
    provider = await startIdentityProvider(key, await makeKey('second'));
  });
  const service = useService(() => settings(provider.url));
  afterAll(() => provider.stop());
  const speaker = async (claims: JWTPayload = {}): Promise<Api> => service.api.withToken(await sign(key, claims));

  it('speaks for its subject, with the scopes that are known here, until it expires', async () => {
    const exp = inSeconds(600);
    const api = await speaker({ sub: 'auth0|6543', scope: 'openid webhooks:read webhooks:fly', exp });
    expect(await dataOf(api.me())).toEqual({
      tokenId: null,
      userId: 'auth0|6543',
      scopes: ['webhooks:read'],
      expiresAt: new Date(exp * 1000).toISOString(),
    });
    await dataOf(api.listWebhooks());
    expect(await errorOf(api.createWebhook({}), 403)).toContain('webhooks:write');
  });

  it('may be for several audiences', async () => {
    await dataOf((await speaker({ aud: ['another', AUDIENCE] })).me());
  });

  it('without a scope, or with scopes in a list, may do nothing that takes one', async () => {
    for (const scope of [undefined, '', ['webhooks:read']]) {
      const api = await speaker({ scope });
      expect((await dataOf(api.me())).scopes).toEqual([]);
      await errorOf(api.listWebhooks(), 403);
    }
  });

  it('makes access tokens that neither outrank nor outlive it', async () => {
    const exp = inSeconds(600);
    const api = await speaker({ sub: 'maker', scope: 'tokens:manage webhooks:read', exp });
    const wanted = { name: 'from a JWT', scopes: ['webhooks:read'] };
    expect(await errorOf(api.createToken(wanted), 400)).toMatch(/outlive/);
    const tooLate = new Date((exp + 1) * 1000).toISOString();
    expect(await errorOf(api.createToken({ ...wanted, expiresAt: tooLate }), 400)).toMatch(/outlive/);
    expect(await errorOf(api.createToken({ ...wanted, scopes: ['webhooks:write'] }), 403)).toContain('webhooks:write');
    const expiresAt = new Date(exp * 1000).toISOString();
    const { token } = await dataOf(api.createToken({ ...wanted, expiresAt }), 201);
    expect(await dataOf(service.api.withToken(token).me())).toMatchObject({ userId: 'maker', expiresAt });
  });

  it('gets the same 401 as other bad credentials when it is refused', async () => {
    const refusal = async (token: string) => {
      const authorization = `Bearer ${token}`;
      const { status, headers, text } = await exchange(service.url, 'GET', '/api/me', { headers: { authorization } });
      const { requestId: _, ...envelope } = JSON.parse(text) as { requestId: string };
      return { status, envelope, challenge: headers['www-authenticate'] };
    };
    const reference = await refusal('x');
    expect(reference.status).toBe(401);

    const good = await sign(key);
    const [head = '', payload = '', signature = ''] = good.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload;
    const signed = (header: object) => `${base64url(header)}.${payload}`;
    const hmac = (secret: string) => {
      const text = signed({ alg: 'HS256', kid: 'first' });
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    };
    const stranger = await makeKey('first');
    const bad: Record<string, string> = {
      'no signature': `${signed({ alg: 'none' })}.`,
      'alg none with a signature': `${signed({ alg: 'none' })}.${signature}`,
      'a changed subject': `${head}.${base64url({ ...claims, sub: 'mallory' })}.${signature}`,
      'a changed scope': `${head}.${base64url({ ...claims, scope: 'users:manage' })}.${signature}`,
      'a MAC keyed with the public key': hmac(JSON.stringify(key.publicJwk)),
      'a MAC keyed with nothing': hmac(''),
      'a stranger with our key id': await sign(stranger),
      'a key of its own in the header': await sign(stranger, {}, { jwk: stranger.publicJwk, kid: undefined }),
      'keys of its own at an address': await sign(stranger, {}, { jku: 'http://127.0.0.1/', kid: 'third' }),
      'an unknown key id': await sign(await makeKey('unknown')),
      'five parts': `${good}.${signature}.x`,
      'two parts': `${head}.${payload}`,
      'a payload that is no JSON': `${head}.${Buffer.from('hello').toString('base64url')}.${signature}`,
    };
    const wrongClaims: Record<string, JWTPayload> = {
      'no expiry': { exp: undefined },
      'no issuer': { iss: undefined },
      'no audience': { aud: undefined },
      'no subject': { sub: undefined },
      'another issuer': { iss: 'https://id.example' },
      'another audience': { aud: 'another' },
      'expired beyond the tolerance': { exp: inSeconds(-10) },
      'not yet valid': { nbf: inSeconds(60) },
      'an expiry as text': { exp: String(inSeconds(60)) as unknown as number },
      'an expiry beyond all dates': { exp: 1e300 },
      admin: { sub: 'admin' },
      'an impossible user': { sub: 'a b' },
      'no user': { sub: '' },
      'a number for a user': { sub: 5 as unknown as string },
    };
    for (const [name, wrong] of Object.entries(wrongClaims)) bad[name] = await sign(key, wrong);
    for (const [name, token] of Object.entries(bad)) {
      expect({ name, ...(await refusal(token)) }).toEqual({ name, ...reference });
    }
    expect(await refusal(good)).toMatchObject({ status: 200 });
  });

  it('is accepted a few seconds after its expiry, for the sake of clocks', async () => {
    await dataOf((await speaker({ exp: inSeconds(-1) })).me());
  });

  it('may be signed with new keys of any asymmetric kind, which count within seconds', async () => {
    const next = await Promise.all(['RS256', 'PS384', 'ES512', 'EdDSA'].map((alg) => makeKey(`key-${alg}`, alg)));
    provider.publish(key, ...next);
    for (const one of next) {
      const api = service.api.withToken(await sign(one));
      await waitFor(async () => (await api.me()).status === 200, { what: `the key ${one.kid}` });
    }
  });

  it('with an unknown key id makes the service fetch the keys again, but not often', async () => {
    const before = provider.fetches();
    const unknown = await makeKey('nobody knows it');
    const startedAt = Date.now();
    for (let i = 0; i < 50; i++) await errorOf(service.api.withToken(await sign(unknown)).me(), 401);
    expect(provider.fetches() - before).toBeLessThanOrEqual(1 + Math.floor((Date.now() - startedAt) / 5000) + 1);
  });

  it('goes on being accepted while the provider is down', async () => {
    provider.answer((_, response) => response.writeHead(500).end());
    await dataOf((await speaker()).me());
    provider.publish(key);
  });
});

describe('While the identity provider has never answered', () => {
  let key: SigningKey;
  let provider: IdentityProvider;

  beforeAll(async () => {
    key = await makeKey('first');
    provider = await startIdentityProvider(key);
    provider.answer((_, response) => response.writeHead(302, { location: provider.url }).end());
  });
  const service = useService(() => settings(provider.url));
  afterAll(() => provider.stop());

  it('a JWT is answered 503, not 401, other tokens work, and it is asked seldom', async () => {
    const startedAt = Date.now();
    for (let i = 0; i < 20; i++)
      expect(await errorOf(service.api.withToken(await sign(key)).me(), 503)).toMatch(/identity/i);
    expect(provider.fetches()).toBeLessThanOrEqual(1 + Math.floor((Date.now() - startedAt) / 5000));
    await dataOf(service.api.me());
    await errorOf(service.api.withToken('x').me(), 401);
    await errorOf(service.api.withToken('a.b').me(), 401);
    provider.publish(key);
    const api = service.api.withToken(await sign(key));
    await waitFor(async () => (await api.me()).status === 200, { what: 'the recovery' });
  });
});

describe('Without the three settings', () => {
  const service = useService({ AUTH_FAILURES_PER_MINUTE: '0' });

  it('a JWT is a bad token', async () => {
    await errorOf(service.api.withToken(await sign(await makeKey('first'))).me(), 401);
  });
});

describe('When nobody listens at AUTH_JWKS_URL', () => {
  let port = 0;
  beforeAll(async () => {
    port = await freePort();
  });
  const service = useService(() => settings(`http://127.0.0.1:${port}/keys`));

  it('the service starts, and a JWT is answered 503', async () => {
    await errorOf(service.api.withToken(await sign(await makeKey('first'))).me(), 503);
  });
});
