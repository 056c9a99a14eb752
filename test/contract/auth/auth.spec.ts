import { type Api, type CallOptions, dataOf, errorOf, exchange } from '../../support/api';
import { defaultSettings, runCommand, type Service, useService } from '../../support/service';
import { UNKNOWN_ID } from '../../e2e/stage/examples';

const WEBHOOK = { url: 'https://example.com/hook', events: ['job.started'] };

const runTokenCreate = (service: Service, ...args: string[]) =>
  runCommand(['token', 'create', ...args], defaultSettings(service.database.url, service.token));

/** The token that the command prints, alone. */
async function createdToken(service: Service, ...more: string[]): Promise<string> {
  const created = await runTokenCreate(service, '--user', 'alice', '--scopes', 'webhooks:read', ...more);
  expect(created).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^wns_[A-Za-z0-9_-]{43}\n$/), stderr: '' });
  return created.stdout.trim();
}

describe('Authentication', () => {
  const service = useService({ AUTH_FAILURES_PER_MINUTE: '0' });
  const anonymous = (): Api => service.api.withToken(null);
  const SEVERAL_SCOPES = ['webhooks:read', 'events:publish'];

  /** Everything by which two refusals could be told apart, except for the request's own id. */
  async function refusal(options: CallOptions, path = '/api/me', method = 'GET') {
    const { status, headers, text } = await exchange(service.url, method, path, options);
    const { requestId, ...envelope } = JSON.parse(text) as { requestId: string };
    expect(requestId).toBe(headers['x-request-id']);
    return { status, envelope, challenge: headers['www-authenticate'], type: headers['content-type'] };
  }

  it('answers every kind of bad credentials with the same 401 and a challenge', async () => {
    const lastChanged = service.token.slice(0, -1) + (service.token.endsWith('A') ? 'B' : 'A');
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    const reference = await refusal({});
    expect(reference).toMatchObject({ status: 401, challenge: expect.stringMatching(/^Bearer\b/) });
    expect(reference.envelope).toMatchObject({ success: false, code: 'unauthenticated' });

    const credentials: CallOptions[] = [
      ...['', 'Bearer', 'Bearer ', 'Basic YWRtaW46YWRtaW4=', service.token, `Token ${service.token}`].map(
        (authorization) => ({ headers: { authorization } }),
      ),
      ...[lastChanged, 'x', `wns_${'A'.repeat(43)}`, `${service.token}A`, service.token.toLowerCase()].map(bearer),
      bearer('x'.repeat(10_240)),
      bearer(`${service.token}, Bearer ${service.token}`),
      { headers: { authorization: [`Bearer ${service.token}`, `Bearer ${service.token}`] } },
      { headers: { authorization: [`Bearer ${service.token}`, 'Bearer x'] } },
      { query: { access_token: service.token } },
      { headers: { cookie: `access_token=${service.token}` } },
      { headers: { 'x-api-key': service.token } },
    ];
    for (const options of credentials) expect(await refusal(options)).toEqual(reference);
    const body = { access_token: service.token, ...WEBHOOK };
    expect(await refusal({ body }, '/api/webhooks', 'POST')).toEqual(reference);
    expect(await refusal({ body, headers: { authorization: 'Bearer x' } }, '/api/webhooks', 'POST')).toEqual(reference);
  });

  it('reads the token from the header alone, also when the query contains one', async () => {
    const reply = service.api.call('GET', '/api/me', { query: { access_token: 'x' } });
    expect(await dataOf(reply)).toMatchObject({ userId: 'admin' });
  });

  it('ends with the expiry of a token', async () => {
    const expires = '2099-12-31T23:59:59.000Z';
    const token = await createdToken(service, '--expires', expires);
    expect(await dataOf(service.api.withToken(token).me())).toMatchObject({ userId: 'alice', expiresAt: expires });
    await service.database.query(
      `update webhook_service.access_tokens set expires_at = now() - interval '1 second' where user_id = 'alice'`,
    );
    expect(await refusal({ headers: { authorization: `Bearer ${token}` } })).toEqual(await refusal({}));
  });

  it('ends with the revocation of a token', async () => {
    const bob = await service.apiFor('bob');
    await dataOf(bob.me());
    await service.database.query(`delete from webhook_service.access_tokens where user_id = 'bob'`);
    await errorOf(bob.me(), 'unauthenticated');
  });

  it('returns the user and the scopes of the token', async () => {
    const [admin, alice] = [await dataOf(service.api.me()), await service.apiFor('alice@example.com', SEVERAL_SCOPES)];
    expect(admin).toEqual({ tokenId: null, userId: 'admin', scopes: expect.any(Array), expiresAt: null });
    expect(admin.scopes).toEqual(expect.arrayContaining([...SEVERAL_SCOPES, 'events:broadcast', 'deliveries:read']));
    const me = await dataOf(alice.me());
    expect(me).toEqual({
      tokenId: expect.any(String),
      userId: 'alice@example.com',
      scopes: expect.any(Array),
      expiresAt: null,
    });
    expect([...me.scopes].sort()).toEqual([...SEVERAL_SCOPES].sort());
  });

  it.each(['/api/me', '/api/webhooks', '/api/events', '/api/event-types'])('is needed for %s', async (path) => {
    await errorOf(anonymous().call('GET', path), 401);
  });

  it.each(['/docs', '/docs/openapi.json', '/health/live', '/health/ready'])('is not needed for %s', async (path) => {
    expect((await exchange(service.url, 'GET', path)).status).toBe(200);
  });
});

describe('A token', () => {
  const service = useService();
  let harmless: Api;

  beforeAll(async () => {
    harmless = await service.apiFor('alice', ['accounts:manage']);
  });

  const ROUTES: [string, string, string][] = [
    ['webhooks:write', 'POST', '/api/webhooks'],
    ['webhooks:read', 'GET', '/api/webhooks'],
    ['webhooks:read', 'GET', `/api/webhooks/${UNKNOWN_ID}`],
    ['webhooks:write', 'PATCH', `/api/webhooks/${UNKNOWN_ID}`],
    ['webhooks:write', 'DELETE', `/api/webhooks/${UNKNOWN_ID}`],
    ['webhooks:write', 'POST', `/api/webhooks/${UNKNOWN_ID}/test`],
    ['deliveries:read', 'GET', `/api/webhooks/${UNKNOWN_ID}/deliveries`],
    ['deliveries:read', 'GET', `/api/webhooks/${UNKNOWN_ID}/deliveries/${UNKNOWN_ID}`],
    ['events:publish', 'POST', '/api/events'],
    ['deliveries:read', 'GET', '/api/events'],
    ['deliveries:read', 'GET', `/api/events/${UNKNOWN_ID}`],
  ];

  it.each(ROUTES)('without the scope %s cannot %s %s, whether or not it exists', async (scope, method, path) => {
    const body = method === 'POST' || method === 'PATCH' ? {} : undefined;
    expect(await errorOf(harmless.call(method, path, { body }), 'scope_missing')).toContain(scope);
  });

  it('of any scope may read the event types and who it is', async () => {
    await dataOf(harmless.eventTypes());
    await dataOf(harmless.me());
  });

  it('is printed alone by webhooks token create and is nowhere in the database', async () => {
    const token = await createdToken(service, '--name', 'for the test');
    const rows = await service.database.query<{ text: string }>(
      `select to_jsonb(t)::text as text from webhook_service.access_tokens t where name = 'for the test'`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.text).not.toContain(token.slice(4));
  });

  it.each([
    ['an unknown scope', ['--user', 'alice', '--scopes', 'webhooks:read,webhooks:fly'], /webhooks:fly/],
    ['no user', ['--scopes', 'webhooks:read'], /user/],
    ['an impossible user', ['--user', 'a b', '--scopes', 'webhooks:read'], /user/],
    ['no scopes', ['--user', 'alice'], /scopes/],
    ['an expiry that is no time', ['--user', 'alice', '--scopes', 'webhooks:read', '--expires', 'soon'], /expires/],
    ['an unknown option', ['--user', 'alice', '--scopes', 'webhooks:read', '--colour', 'red'], /colour/],
  ])('is not made with %s', async (_, args, message) => {
    const { exitCode, stdout, stderr } = await runTokenCreate(service, ...args);
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(message);
    expect(stdout).not.toMatch(/wns_/);
  });
});
