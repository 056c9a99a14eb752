import { randomBytes } from 'node:crypto';
import { type CreatedWebhook, dataOf, errorOf } from '../../support/api';
import { useHostileDns } from '../../support/hostile-dns';
import { type HostileReceiver, useHostileReceivers } from '../../support/hostile-receiver';
import { cloneDatabase } from '../../support/postgres';
import { type Service, startService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { deleteWebhooks, publish, settledDeliveries } from '../stage/steps';

/** The one address that deliveries may reach here; everything else of this machine is as forbidden as in production. */
const ALLOWED = '127.0.0.9';

const REFUSED = [
  ...['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '0', '①②⑦.⓪.⓪.①', '169。254。169。254'],
  ...['%31%32%37.0.0.1', '127.0.0.1.', 'localhost', 'LOCALHOST.', 'a.localhost', '[::1]', '[::]', '[::ffff:127.0.0.1]'],
  ...['[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fd00:ec2::254]', '[fe80::1]', '[ff02::1]'],
  ...['169.254.169.254/latest/meta-data', '168.63.129.16', '100.100.100.200', '[2606:4700::5efe:127.0.0.1]'],
].map((host) => `http://${host}/`);

const MALFORMED = [
  ...['http://user:pass@example.com/', 'http://evil.com@127.0.0.1/', 'http://evil.com\\@127.0.0.1/', 'http:127.0.0.1/'],
  ...['//example.com/', 'ftp://example.com/', 'javascript:alert(1)', 'https://example.com:0/'],
  ...['https://example.com:65536/', 'https://example.com/\r', 'https://example.com/\n', 'https://exa\tmple.com/'],
  ...['https://example.com/a b', '', null, `https://example.com/${'a'.repeat(2029)}`],
];

const ADDRESS_OF_THIS_TEST = /127\.0\.0|::1|10\.9/;

describeOnStores('A destination', (store) => {
  const startReceiver = useHostileReceivers();
  const startDns = useHostileDns();
  let canary: HostileReceiver;
  let allowed: HostileReceiver;
  let service: Service;
  let webhook: CreatedWebhook;

  beforeAll(async () => {
    const onRequest = (socket: { end(text: string): unknown }) =>
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    // Hears every address of this machine.
    canary = await startReceiver({ host: '::', onRequest });
    allowed = await startReceiver({ host: ALLOWED, onRequest });
    const dns = await startDns((name, type) => {
      if (type === 'AAAA') return name.startsWith('six') ? ['::1'] : [];
      if (name.startsWith('silent')) return 'silence';
      if (name.startsWith('six')) return [];
      if (name.startsWith('nowhere')) return 'NXDOMAIN';
      return name.startsWith('good') ? [ALLOWED] : name.startsWith('mixed') ? ['10.9.8.7', ALLOWED] : ['127.0.0.1'];
    });
    service = await startService({
      ...store.settings(),
      ALLOWED_NETWORKS: `${ALLOWED}/32`,
      DNS_SERVERS: dns.server,
      DELIVERY_TIMEOUT_MS: '60000',
    });
  });
  afterAll(async () => expect(await service.stop()).toBe(0));
  beforeEach(async () => {
    const url = `http://${ALLOWED}:${allowed.port}/hook`;
    webhook = await dataOf(service.api.createWebhook({ url, events: ['job.started'] }), 201);
  });
  afterEach(() => deleteWebhooks(service.api));

  it.each([...REFUSED, ...MALFORMED])('%j is refused by POST and by PATCH', async (url) => {
    const isSpecial = typeof url === 'string' && REFUSED.includes(url);
    // No setting allows a tunnel.
    const special = url === 'http://[2002:7f00:1::]/' ? /\(6to4\)$/ : /\(.+\).*ALLOWED_NETWORKS/;
    for (const call of [
      service.api.createWebhook({ url, events: ['job.started'] }),
      service.api.updateWebhook(webhook.id, { url }),
    ]) {
      expect(await errorOf(call, 400)).toMatch(isSpecial ? special : /URL|url/);
    }
    expect(await dataOf(service.api.readWebhook(webhook.id))).toEqual({
      ...webhook,
      secret: undefined,
      standardSecret: undefined,
    });
    if (url === REFUSED[0]) {
      const before = allowed.requests.length;
      const event = await publish(service.api, 'job.started');
      expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([{ status: 'succeeded' }]);
      expect(allowed.requests).toHaveLength(before + 1);
    }
    expect(canary.connections).toEqual([]);
  });

  const pointTo = (name: string, port = canary.port) =>
    dataOf(service.api.updateWebhook(webhook.id, { url: `http://${name}:${port}/hook` }));

  it.each(['private.example.test', 'six.example.test'])(
    '%s, a name that resolves to this machine, is blocked without a socket or a retry, also in a test',
    async (name) => {
      await pointTo(name);
      const event = await publish(service.api, 'job.started');
      const [row, ...more] = await settledDeliveries(service.api, webhook, event);
      const tested = await dataOf(service.api.testWebhook(webhook.id));
      for (const { status, error, nextAttemptAt } of [row!, tested]) {
        expect([status, error?.code, nextAttemptAt]).toEqual(['failed', 'destination_blocked', null]);
        expect(error?.message).toMatch(/\(loopback\).*ALLOWED_NETWORKS/);
        expect(error?.message).not.toMatch(ADDRESS_OF_THIS_TEST);
      }
      expect([more, canary.connections]).toEqual([[], []]);
      const attempts = () =>
        service
          .logs()
          .split('\n')
          .filter((line) => line.includes('"msg":"attempt"'));
      const own = () => attempts().filter((line) => line.includes(name));
      // A line may come after the answer.
      await waitFor(() => own().length >= 2, { what: 'the lines of both attempts' });
      expect(own()).toHaveLength(2);
      expect(attempts().filter((line) => /127\.0\.0\.1|::1/.test(line))).toEqual([]);
    },
  );

  it('is asked of DNS_SERVERS, and of several addresses only the allowed one is dialled', async () => {
    for (const name of ['good.example.test', 'mixed.example.test']) {
      await pointTo(name, allowed.port);
      expect(await dataOf(service.api.testWebhook(webhook.id))).toMatchObject({ status: 'succeeded' });
    }
    expect(new Set(allowed.connections)).toEqual(new Set([ALLOWED]));
  });

  it('whose name is not found, or never answered, says so within the deadline', async () => {
    for (const [name, code] of [
      ['nowhere.example.test', 'dns_not_found'],
      ['silent.example.test', 'timeout'],
    ] as const) {
      await pointTo(name);
      await dataOf(service.api.updateWebhook(webhook.id, { timeoutMs: 3000 }));
      const { error, durationMs } = await dataOf(service.api.testWebhook(webhook.id));
      expect(error?.code).toBe(code);
      // eslint-disable-next-line no-restricted-syntax -- ten times the webhook's deadline, half the service's
      expect(durationMs).toBeLessThan(30_000);
    }
  });
});

describe('A stored url', () => {
  const startReceiver = useHostileReceivers();

  it('that a stricter rule now forbids is blocked, not retried, and no socket is opened', async () => {
    const canary = await startReceiver({ host: '::' });
    const database = await cloneDatabase();
    const urls = [
      `http://127.0.0.1:${canary.port}/`,
      `http://localhost:${canary.port}/`,
      `http://[::1]:${canary.port}/`,
    ];
    const events = ['job.started'];
    const SECRETS_KEY = randomBytes(32).toString('base64');
    try {
      const before = await startService({ SECRETS_KEY }, database);
      const webhooks: CreatedWebhook[] = [];
      for (const url of urls) webhooks.push(await dataOf(before.api.createWebhook({ url, events }), 201));
      expect(await before.stop()).toBe(0);

      const strict = await startService({ SECRETS_KEY, ALLOWED_NETWORKS: '' }, database);
      try {
        const event = await publish(strict.api, 'job.started');
        for (const webhook of webhooks) {
          const rows = await settledDeliveries(strict.api, webhook, event);
          const tested = await dataOf(strict.api.testWebhook(webhook.id));
          const error = { code: 'destination_blocked', message: expect.stringContaining('ALLOWED_NETWORKS') };
          expect(rows).toMatchObject([{ attempt: 1, status: 'failed', error, nextAttemptAt: null }]);
          expect(tested).toMatchObject({ status: 'failed', error, response: null });
        }
        expect(canary.connections).toEqual([]);
      } finally {
        expect(await strict.stop()).toBe(0);
      }
    } finally {
      await database.drop();
    }
  });
});
