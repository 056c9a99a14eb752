import { dataOf, errorOf } from '../../support/api';
import { useService } from '../../support/service';
import { EVENT_NAMES, ISO_UTC, UUID_V7 } from '../../e2e/stage/examples';

const URL_PREFIX = 'https://example.com/';
const LONGEST_URL = URL_PREFIX + 'a'.repeat(2048 - URL_PREFIX.length);

describe('Creating a webhook', () => {
  const service = useService({ MAX_WEBHOOKS_PER_USER: '10000' });
  const valid = { url: 'https://example.com/hook', events: ['follower.gained'] };
  const create = (fields: Record<string, unknown>) => dataOf(service.api.createWebhook({ ...valid, ...fields }), 201);
  const refusal = (fields: Record<string, unknown>) => errorOf(service.api.createWebhook({ ...valid, ...fields }), 400);

  it('answers the whole webhook and, this once, its secret', async () => {
    const webhook = await create({ secret: 'a secret of mine' });
    expect(webhook).toEqual({
      id: expect.stringMatching(UUID_V7),
      kind: 'push',
      url: 'https://example.com/hook',
      events: ['follower.gained'],
      secret: 'a secret of mine',
      standardSecret: `whsec_${Buffer.from('a secret of mine').toString('base64')}`,
      description: null,
      metadata: {},
      externalId: null,
      filter: null,
      format: 'native',
      fields: null,
      headers: {},
      timeoutMs: null,
      retryDelaysMs: null,
      maxPerSecond: null,
      ...{ idleSeconds: null, lastLeasedAt: null, lastLeasedBy: null },
      active: true,
      disabledReason: null,
      disabledAt: null,
      consecutiveFailures: 0,
      disablesAt: null,
      previousSecretExpiresAt: null,
      lastSuccessAt: null,
      lastFailureAt: null,
      secretRotatedAt: null,
      createdAt: expect.stringMatching(ISO_UTC),
      updatedAt: expect.stringMatching(ISO_UTC),
    });
    expect(Date.parse(webhook.updatedAt)).toBeGreaterThanOrEqual(Date.parse(webhook.createdAt));
    const { secret: _secret, standardSecret: _same, ...withoutSecret } = webhook;
    expect(await dataOf(service.api.readWebhook(webhook.id))).toEqual(withoutSecret);
  });

  it.each([
    ['https://EXAMPLE.com', 'https://example.com/'],
    ['https://example.com:443/a?b=c&d', 'https://example.com/a?b=c&d'],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
    ['http://localhost:8080/hook', 'http://localhost:8080/hook'],
    ['http://127.1:8080/', 'http://127.0.0.1:8080/'],
    ['http://[::1]:8080/', 'http://[::1]:8080/'],
    [LONGEST_URL, LONGEST_URL],
  ])('keeps the url %.40s in canonical form', async (url, canonical) => {
    expect(await create({ url })).toMatchObject({ url: canonical });
  });

  it.each([
    ...['', 'example.com', '//example.com/', '/hook', 'http:127.0.0.1/', 'ftp://example.com/', 'javascript:alert(1)'],
    ...['https://user:pass@example.com/', 'https://user@example.com/', 'https://@example.com/'],
    ...['https://example.com/#part', 'https://example.com/#', 'https://example.com\\@127.0.0.1/'],
    ...['https://example.com:0/', 'https://example.com:65536/', 'https://', 'https://exa mple.com/'],
    ...[' https://example.com/', 'https://example.com/ ', 'https://example.com/a b'],
    ...['https://example.com/\t', 'https://exam\nple.com/', 'https://example.com/\r', 'https://example.com/\u0000'],
    `${LONGEST_URL}a`,
  ])('refuses %j as url', async (url) => {
    expect(await refusal({ url })).toMatch(/url/i);
  });

  it.each([null, 5, true, ['https://example.com/'], {}])('refuses %j as url because it is no text', async (url) => {
    expect(await refusal({ url })).toMatch(/url/i);
  });

  it.each([
    ...['http://10.0.0.1/', 'http://192.168.1.1/', 'http://172.16.0.1/', 'http://0/', 'http://[::]/'],
    ...['http://169.254.169.254/latest/meta-data/', 'http://168.63.129.16/', 'http://100.100.100.200/'],
    ...[
      'http://169。254。169。254/',
      'http://%31%30.0.0.1/',
      'http://10.0.0.1./',
      'http://167772161/',
      'http://0xa.1/',
    ],
    ...['http://[::ffff:10.0.0.1]/', 'http://[64:ff9b::a00:1]/', 'http://[fd00:ec2::254]/'],
    ...['http://[fe80::1]/', 'http://[ff02::1]/', 'http://[2001:db8::1]/', 'http://[3fff::1]/'],
  ])('refuses %s as a special-purpose address and names the setting that could allow it', async (url) => {
    expect(await refusal({ url })).toContain('ALLOWED_NETWORKS');
  });

  it('accepts a public IPv4 address within the prefix of DNS64', async () => {
    const url = 'https://[64:ff9b::808:808]/hook';
    expect((await create({ url })).url).toBe(url);
  });

  it('refuses a 6to4 address, which no setting allows', async () => {
    expect(await refusal({ url: 'http://[2002:a00:1::]/' })).toBe(
      'url must not point to a special-purpose address (6to4)',
    );
  });

  it('takes every event of the contract, *, and those about webhooks', async () => {
    const events = [...EVENT_NAMES, 'webhook.disabled', 'webhook.failing', 'webhook.healthy', 'webhook.*'];
    expect((await create({ events })).events).toEqual(events);
    expect((await create({ events: ['*'] })).events).toEqual(['*']);
  });

  it.each(['follower.poked', 'order.*'])(
    'names the unknown %s, how to declare it, and the known ones',
    async (event) => {
      const message = await refusal({ events: ['follower.gained', event] });
      for (const part of [event, 'POST /api/event-types', 'EXTRA_EVENT_TYPES', ...EVENT_NAMES]) {
        expect(message).toContain(part);
      }
    },
  );

  it.each([
    ['no array', 'follower.gained'],
    ['null', null],
    ['an empty array', []],
    ['a name twice', ['job.started', 'job.started']],
    ['a name that is no text', [5]],
    ['null in it', [null]],
    ['an object in it', [{ name: 'job.started' }]],
    ['an empty name', ['']],
    ['a name in capitals', ['Follower.Gained']],
    ['51 names', Array.from({ length: 51 }, (_, i) => `unknown.name_${i}`)],
    ['5,000 names', Array.from({ length: 5000 }, (_, i) => `a.b${i}`)],
  ])('refuses events that are %s', async (_, events) => {
    expect(await refusal({ events })).toMatch(/events?/);
  });

  it.each([
    ['8 characters', '12345678'],
    ['256 characters', 'x'.repeat(256)],
    ['any script', 'пароль 🔑 şifre'],
  ])('takes a secret of %s', async (_, secret) => {
    expect((await create({ secret })).secret).toBe(secret);
  });

  it.each([
    ['7 characters', '1234567'],
    ['257 characters', 'x'.repeat(257)],
    ['a line break', 'line\nbreak'],
    ['a control character', 'control\u0007character'],
    ['a C1 control character', 'control\u0085character'],
    ['a lone surrogate', 'lone\ud800surrogate'],
    ['a number', 12345678],
    ['nothing', ''],
  ])('refuses a secret of %s and does not repeat it', async (_, secret) => {
    const message = await refusal({ secret });
    expect(message).toMatch(/secret/);
    if (secret) expect(message).not.toContain(String(secret));
  });

  it('makes a secret of its own for each webhook that comes without one', async () => {
    const [one, other] = [await create({}), await create({})];
    expect(one.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(one.secret).not.toBe(other.secret);
  });

  it('takes a description of up to 256 characters, and null for none', async () => {
    expect(await create({ description: 'd'.repeat(256) })).toMatchObject({ description: 'd'.repeat(256) });
    expect(await create({ description: null })).toMatchObject({ description: null });
    for (const description of ['d'.repeat(257), 5, {}]) expect(await refusal({ description })).toMatch(/description/);
  });

  it('accepts only true or false for active', async () => {
    expect(await create({ active: false })).toMatchObject({
      ...{ active: false, disabledReason: null, disabledAt: expect.stringMatching(ISO_UTC) },
    });
    for (const active of ['false', 0, 'yes']) expect(await refusal({ active })).toMatch(/active/);
  });

  it.each(['id', 'userId', 'secret_hash', 'createdAt', 'consecutiveFailures', 'toString'])(
    'names the unknown field %s',
    async (field) => {
      expect(await refusal({ [field]: 'x' })).toContain(field);
    },
  );

  it.each(['{"__proto__":{"active":false},', '{"constructor":{"prototype":{}},', '{"constructor":"x",'])(
    'refuses a body that begins with %s',
    async (beginning) => {
      const rawBody = beginning + JSON.stringify(valid).slice(1);
      await errorOf(service.api.call('POST', '/api/webhooks', { rawBody }), 400);
    },
  );

  it.each(['[]', '"text"', 'null', '5', 'true'])('refuses the body %s', async (rawBody) => {
    await errorOf(service.api.call('POST', '/api/webhooks', { rawBody }), 400);
  });

  it('returns all errors at once, joined with "; "', async () => {
    const message = await refusal({ url: 5, secret: 'short', description: 7 });
    for (const field of ['url', 'secret', 'description']) expect(message).toContain(field);
    expect(message).toContain('; ');
  });

  it('needs url and events', async () => {
    expect(await errorOf(service.api.createWebhook({ url: valid.url }), 400)).toMatch(/events/);
    expect(await errorOf(service.api.createWebhook({ events: valid.events }), 400)).toMatch(/url/);
  });

  it('stores SQL as text', async () => {
    const text = `'; drop table webhook_service.webhooks; --`;
    const webhook = await create({ description: text, secret: text });
    expect(await dataOf(service.api.readWebhook(webhook.id))).toMatchObject({ description: text });
  });

  it('keeps the secret encrypted in the database', async () => {
    const { id } = await create({ secret: 'a secret to look for' });
    const [row] = await service.database.query<{ text: string }>(
      `select to_jsonb(w)::text || encode(w.secret, 'escape') as text from webhook_service.webhooks w where id = $1`,
      [id],
    );
    expect(row!.text).toContain(id);
    expect(row!.text).not.toContain('a secret to look for');
    expect(row!.text).not.toContain(Buffer.from('a secret to look for').toString('hex'));
  });
});
