import { inspect } from 'node:util';
import type { Config } from './config';
import { parseConfig, SettingsError } from './settings';
import { schema, variableOf } from './settings-schema';

const SETTING_NAMES = Object.keys(schema.shape).map(variableOf);

const KEY = Buffer.alloc(32, 0xfb);
const SECRETS_KEY = KEY.toString('base64');
const external = { DATABASE_URL: 'postgres://db.example/webhooks', SECRETS_KEY };

function failureOf(environment: Record<string, string>): SettingsError {
  try {
    parseConfig(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
  throw new Error('The settings were accepted.');
}

const problemsOf = (environment: Record<string, string>) => failureOf(environment).problems;

describe('The port of the metrics', () => {
  it.each<Record<string, string>>([{ METRICS_PORT: '3000' }, { PORT: '9464', METRICS_PORT: '09464' }])(
    'is not that of the API: %p',
    (settings) => {
      expect(problemsOf(settings)).toEqual(['METRICS_PORT must be another port than PORT.']);
    },
  );

  it('is opened on the configured address', () => {
    const { metricsPort, metricsHost } = parseConfig({ METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' });
    expect([metricsPort, metricsHost]).toEqual([9464, '0.0.0.0']);
  });
});

describe('An environment without settings', () => {
  it('has the defaults of the embedded store', () => {
    expect(parseConfig({})).toEqual({
      port: 3000,
      host: '127.0.0.1',
      role: 'all',
      databaseUrl: null,
      databasePoolSize: 10,
      dataDir: '.data',
      redisUrl: null,
      secretsKeys: [],
      bootstrapToken: null,
      authJwksUrl: null,
      authIssuer: null,
      authAudience: null,
      authFailuresPerMinute: 300,
      trustedProxies: [],
      allowedNetworks: ['127.0.0.0/8', '::1/128'],
      requireHttps: false,
      dnsServers: [],
      deliveryTimeoutMs: 10_000,
      maxRetries: 3,
      retryBaseDelayMs: 30_000,
      retryFactor: 8,
      retryJitter: 0.2,
      deliveryConcurrency: 300,
      webhookConcurrency: 100,
      disableAfterFailures: 20,
      disableAfterHours: 24,
      maxPendingPerWebhook: 100_000,
      maxWebhooksPerUser: 100,
      eventMaxBytes: 98_304,
      rateLimitPerMinute: 600,
      publishLimitPerMinute: 0,
      retentionDays: 30,
      signatureHeaders: null,
      headerPrefix: ['x-service'],
      userAgent: expect.stringMatching(/^webhook-notification-service\/\d+\.\d+\.\d+$/),
      extraEventTypes: [],
      monitoredQueues: [],
      monitoredQueuesRedisUrl: null,
      queueEventsUser: null,
      queuePrefix: null,
      metricsPort: null,
      metricsHost: '127.0.0.1',
      docs: true,
      corsOrigins: [],
      console: true,
      egressCaFile: null,
      egressProxy: null,
      egressProxyResolves: false,
      noProxy: null,
      consoleFrameAncestors: [],
      consoleName: 'Webhooks',
      consoleAccent: null,
      isLocal: true,
      logLevel: 'info',
    });
  });

  it('equals one with empty values, except for ALLOWED_NETWORKS', () => {
    const empty = Object.fromEntries(SETTING_NAMES.map((name) => [name, '']));
    expect(parseConfig(empty)).toEqual({ ...parseConfig({}), allowedNetworks: [] });
  });

  it('ignores variables that are not settings', () => {
    expect(parseConfig({ PATH: '/bin', port: '1', MAX_RETRIES_: '9' })).toEqual(parseConfig({}));
  });
});

describe.each<[name: string, property: keyof Config, min: number, max: number, step: number]>([
  ['PORT', 'port', 0, 65_535, 1],
  ['DATABASE_POOL_SIZE', 'databasePoolSize', 2, 100, 1],
  ['DELIVERY_TIMEOUT_MS', 'deliveryTimeoutMs', 500, 60_000, 1],
  ['MAX_RETRIES', 'maxRetries', 0, 3, 1],
  ['RETRY_BASE_DELAY_MS', 'retryBaseDelayMs', 10, 86_400_000, 1],
  ['RETRY_FACTOR', 'retryFactor', 1, 10, 0.01],
  ['RETRY_JITTER', 'retryJitter', 0, 0.5, 0.01],
  ['DELIVERY_CONCURRENCY', 'deliveryConcurrency', 1, 5000, 1],
  ['WEBHOOK_CONCURRENCY', 'webhookConcurrency', 1, 5000, 1],
  ['DISABLE_AFTER_FAILURES', 'disableAfterFailures', 1, 1000, 1],
  ['DISABLE_AFTER_HOURS', 'disableAfterHours', 0, 720, 1],
  ['MAX_PENDING_PER_WEBHOOK', 'maxPendingPerWebhook', 1000, 10_000_000, 1000],
  ['MAX_WEBHOOKS_PER_USER', 'maxWebhooksPerUser', 1, 10_000, 1],
  ['EVENT_MAX_BYTES', 'eventMaxBytes', 1024, 1_048_576, 1],
  ['AUTH_FAILURES_PER_MINUTE', 'authFailuresPerMinute', 0, 100_000, 1],
  ['RATE_LIMIT_PER_MINUTE', 'rateLimitPerMinute', 0, 1_000_000, 1],
  ['PUBLISH_LIMIT_PER_MINUTE', 'publishLimitPerMinute', 0, 1_000_000, 1],
  ['RETENTION_DAYS', 'retentionDays', 1, 3650, 1],
  ['METRICS_PORT', 'metricsPort', 1, 65_535, 1],
])('%s', (name, property, min, max, step) => {
  it(`goes from ${min} to ${max}`, () => {
    for (const value of [min, min + step, max]) expect(parseConfig({ [name]: String(value) })[property]).toBe(value);
    for (const value of [min - step, max + step]) {
      expect(problemsOf({ [name]: String(value) })).toEqual([
        expect.stringMatching(`^${name} must be a .*number from ${min} to ${max}\\.$`),
      ]);
    }
  });

  it.each(['abc', '-1', '+1', '1e1', '0x2', ' 2', '2 ', '1,5', '2.', 'NaN', 'Infinity', '٣', '9'.repeat(16)])(
    'rejects %p',
    (text) => {
      expect(problemsOf({ [name]: text })).toHaveLength(1);
    },
  );

  it(`${step < 1 ? 'may' : 'must not'} have a fraction`, () => {
    const start = () => parseConfig({ [name]: `${Math.floor((min + max) / 2)}.5` });
    if (step < 1) expect(start).not.toThrow();
    else expect(start).toThrow(SettingsError);
  });
});

describe.each<[name: string, property: keyof Config, good: [text: string, value: unknown][], bad: string[]]>([
  ['ROLE', 'role', [['all', 'all']], ['king', 'ALL', 'api,worker', 'toString']],
  [
    'LOG_LEVEL',
    'logLevel',
    ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'].map((level) => [level, level]),
    ['loud', 'INFO', 'constructor'],
  ],
  [
    'DOCS',
    'docs',
    [
      ['true', true],
      ['false', false],
    ],
    ['yes', '1', 'TRUE', ' true', 'constructor', '__proto__'],
  ],
  [
    'REQUIRE_HTTPS',
    'requireHttps',
    [
      ['true', true],
      ['false', false],
    ],
    ['no', '0', 'False', 'toString'],
  ],
  [
    'REDIS_URL',
    'redisUrl',
    [
      ['redis://cache.example:6380/1', 'redis://cache.example:6380/1'],
      ['rediss://:secret@cache.example', 'rediss://:secret@cache.example'],
      [' redis://a.example, redis://b.example:6380,', 'redis://a.example,redis://b.example:6380'],
      ['redis+sentinel://:p@a.example,b.example/main', 'redis+sentinel://:p@a.example,b.example/main'],
    ],
    [
      'cache.example:6379',
      'http://cache.example',
      'redis',
      'redis://cache.example:99999',
      'redis://a.example,rediss://b.example',
    ],
  ],
  [
    'BOOTSTRAP_TOKEN',
    'bootstrapToken',
    [[`wns_${'aZ0_-'.repeat(8)}abc`, `wns_${'aZ0_-'.repeat(8)}abc`]],
    ['wns_', 'a'.repeat(47), `wns_${'a'.repeat(42)}`, `wns_${'a'.repeat(44)}`, `wns_${'a'.repeat(42)}+`],
  ],
  [
    'SECRETS_KEY',
    'secretsKeys',
    [
      [SECRETS_KEY, [KEY]],
      [`${SECRETS_KEY}, ${Buffer.alloc(32).toString('base64')}`, [KEY, Buffer.alloc(32)]],
    ],
    [
      Buffer.alloc(31).toString('base64'),
      Buffer.alloc(33).toString('base64'),
      KEY.toString('base64url'),
      KEY.toString('hex'),
      `${SECRETS_KEY},short`,
      `${SECRETS_KEY}\n${SECRETS_KEY}`,
      ',',
    ],
  ],
  [
    'ALLOWED_NETWORKS',
    'allowedNetworks',
    [
      ['10.1.0.0/16', ['10.1.0.0/16']],
      [' 10.0.0.0/8 , fc00::/16,', ['10.0.0.0/8', 'fc00::/16']],
    ],
    ['10.1.0.0', '0.0.0.0/0', '10.0.0.0/8,::/0', 'all', '10.0.0.0/8 fc00::/16'],
  ],
  [
    'TRUSTED_PROXIES',
    'trustedProxies',
    [
      ['10.1.0.0/16', ['10.1.0.0/16']],
      ['192.0.2.1/32, 2001:db8::/32', ['192.0.2.1/32', '2001:db8::/32']],
    ],
    ['true', '1', '10.1.0.1', '0.0.0.0/0', '::/0', 'loopback'],
  ],
  [
    'DNS_SERVERS',
    'dnsServers',
    [
      ['192.0.2.53', ['192.0.2.53']],
      ['192.0.2.53:5353, [2001:db8::53]:53,2001:db8::53', ['192.0.2.53:5353', '[2001:db8::53]:53', '2001:db8::53']],
    ],
    ['dns.example', '192.0.2.256', '192.0.2', 'cafe', ':::', '192.0.2.53:65536', '[2001:db8::53', '192.0.2.53/32'],
  ],
  [
    'EGRESS_PROXY',
    'egressProxy',
    [['http://proxy.example:3128', { isTls: false, hostname: 'proxy.example', port: 3128, authorization: null }]],
    ['proxy.example:3128', 'socks5://proxy.example:1080', 'http://proxy.example', 'http://a:%zz@proxy.example:1'],
  ],
  [
    'MONITORED_QUEUES',
    'monitoredQueues',
    [
      ['reports', [{ prefix: null, name: 'reports', isAutomation: false }]],
      [
        ' crm:mail ,reports,',
        [
          { prefix: 'crm', name: 'mail', isAutomation: false },
          { prefix: null, name: 'reports', isAutomation: false },
        ],
      ],
    ],
    ['re ports', ':reports', 'crm:', '{send-0}', 'reports,bull:{fan-out}'],
  ],
  [
    'MONITORED_QUEUES_REDIS_URL',
    'monitoredQueuesRedisUrl',
    [
      ['redis://jobs.example:6380/1', 'redis://jobs.example:6380/1'],
      ['redis://a.example,redis://b.example', 'redis://a.example,redis://b.example'],
    ],
    ['jobs.example:6379', 'http://jobs.example'],
  ],
  ['QUEUE_PREFIX', 'queuePrefix', [['crm.test-2', 'crm.test-2']], ['a b', 'a:b', '{a}', 'é', 'a'.repeat(81)]],
  [
    'QUEUE_EVENTS_USER',
    'queueEventsUser',
    [
      ['admin', 'admin'],
      ['auth0|alice@example.com', 'auth0|alice@example.com'],
    ],
    ['two words', 'a/b', 'ä', 'a'.repeat(129)],
  ],
  [
    'CONSOLE_FRAME_ANCESTORS',
    'consoleFrameAncestors',
    [
      ['https://app.example', ['https://app.example']],
      ['https://my_app.example', ['https://my_app.example']],
      [' https://app.example:8443, http://localhost:8080,', ['https://app.example:8443', 'http://localhost:8080']],
    ],
    [
      '*',
      'https://*.example',
      'https://a;b.example',
      'app.example',
      'https://app.example/',
      'http://app.example',
      "'self'",
      'null',
    ],
  ],
  ['SIGNATURE_HEADERS', 'signatureHeaders', [['svix', 'svix']], ['Svix', 'standard', 'svix,']],
  ['HEADER_PREFIX', 'headerPrefix', [['x-acme, acme', ['x-acme', 'acme']]], ['X-Acme', 'webhook', 'a,b,c']],
  ['USER_AGENT', 'userAgent', [['Acme/1.0', 'Acme/1.0']], ['a'.repeat(129), 'a b', 'é', 'a\n']],
  [
    'CONSOLE_NAME',
    'consoleName',
    [
      ['Acme "Hooks" <b>', 'Acme "Hooks" <b>'],
      ['پیام‌ها 🪝', 'پیام‌ها 🪝'],
      ['a'.repeat(40), 'a'.repeat(40)],
    ],
    ['a'.repeat(41), ' ', ' Acme', 'a\nb', 'a\u202eb', 'a\u2066b', 'a\u200fb', '\ud83e'],
  ],
  [
    'CONSOLE_ACCENT',
    'consoleAccent',
    [
      ['#4f46e5', '#4f46e5'],
      ['#ABCDEF', '#abcdef'],
    ],
    ['red', '#fff', '4f46e5', '#4f46e5ff', '#4f46eg', '#4f46e5;}'],
  ],
])('%s', (name, property, good, bad) => {
  it.each(good)('accepts %p', (text, value) => {
    expect(parseConfig({ [name]: text })[property]).toEqual(value);
  });

  it.each(bad)('rejects %p', (text) => {
    expect(problemsOf({ [name]: text })).toContainEqual(expect.stringMatching(`^${name} must be .+\\.$`));
  });
});

describe('AUTOMATION_QUEUES', () => {
  it('mark monitored queues as automation queues', () => {
    const settings = { MONITORED_QUEUES: 'mail, crm:reports', AUTOMATION_QUEUES: 'crm:reports' };
    expect(parseConfig(settings).monitoredQueues).toEqual([
      { prefix: null, name: 'mail', isAutomation: false },
      { prefix: 'crm', name: 'reports', isAutomation: true },
    ]);
  });

  it.each(['reports', 'bull:mail', 'mail,other'])('must be monitored queues: rejects %p', (text) => {
    expect(problemsOf({ MONITORED_QUEUES: 'mail', AUTOMATION_QUEUES: text })).toEqual([
      'AUTOMATION_QUEUES must only name queues that MONITORED_QUEUES names in the same way.',
    ]);
  });
});

describe('EGRESS_PROXY_RESOLVES', () => {
  it('requires EGRESS_PROXY', () => {
    const EGRESS_PROXY = 'http://proxy.example:3128';
    expect(parseConfig({ EGRESS_PROXY, EGRESS_PROXY_RESOLVES: 'true' }).egressProxyResolves).toBe(true);
    expect(parseConfig({ EGRESS_PROXY_RESOLVES: 'false' }).egressProxyResolves).toBe(false);
    expect(problemsOf({ EGRESS_PROXY_RESOLVES: 'true' })).toEqual([expect.stringMatching(/^EGRESS_PROXY is required/)]);
    expect(problemsOf({ EGRESS_PROXY, EGRESS_PROXY_RESOLVES: '1' })).toHaveLength(1);
  });
});

describe('DATABASE_URL', () => {
  it.each(['postgres://db.example/webhooks', 'postgresql://user:pass@db.example:6432/webhooks?sslmode=require'])(
    'accepts %s',
    (url) => {
      expect(parseConfig({ DATABASE_URL: url, SECRETS_KEY }).databaseUrl).toBe(url);
    },
  );

  it.each(['mysql://db.example', 'db.example', 'postgres', 'postgres://db.example:99999'])('rejects %s', (url) => {
    expect(problemsOf({ DATABASE_URL: url, SECRETS_KEY })).toEqual(['DATABASE_URL must be a postgres:// URL.']);
  });

  it('requires a SECRETS_KEY', () => {
    const problem = 'SECRETS_KEY is required together with DATABASE_URL.';
    expect(problemsOf({ DATABASE_URL: external.DATABASE_URL })).toEqual([problem]);
    expect(problemsOf({ ...external, SECRETS_KEY: '' })).toEqual([problem]);
  });

  it.each(['api', 'worker'])('is required by the role %s', (role) => {
    expect(parseConfig({ ...external, ROLE: role }).role).toBe(role);
    expect(problemsOf({ ROLE: role })).toEqual([expect.stringContaining('ROLE must be all without DATABASE_URL')]);
  });
});

describe('The settings of an identity provider', () => {
  const jwt = {
    AUTH_JWKS_URL: 'https://id.example/keys',
    AUTH_ISSUER: 'https://id.example/',
    AUTH_AUDIENCE: 'webhooks',
  };

  it('are accepted together', () => {
    expect(parseConfig(jwt)).toMatchObject({
      authJwksUrl: jwt.AUTH_JWKS_URL,
      authIssuer: jwt.AUTH_ISSUER,
      authAudience: jwt.AUTH_AUDIENCE,
    });
  });

  it.each(Object.keys(jwt))('are named when only %s is set, or only it is missing', (name) => {
    const only = { [name]: jwt[name as keyof typeof jwt] };
    const others = Object.keys(jwt).filter((other) => other !== name);
    expect(problemsOf(only).map((problem) => problem.split(' ')[0])).toEqual(others);
    expect(problemsOf({ ...jwt, [name]: '' })).toEqual([expect.stringMatching(`^${name} is required`)]);
  });

  it.each(['id.example/keys', 'ftp://id.example/keys', 'file:///keys', 'https://'])(
    'reject %s as the JWKS URL',
    (url) => {
      expect(problemsOf({ ...jwt, AUTH_JWKS_URL: url })).toEqual([expect.stringMatching(/^AUTH_JWKS_URL must be/)]);
    },
  );
});

describe('The default', () => {
  const loopback = ['127.0.0.0/8', '::1/128'];

  it.each<[store: string, host: string, listensOn: string, networks: string[]]>([
    ['embedded', '', '127.0.0.1', loopback],
    ['embedded', '127.0.0.1', '127.0.0.1', loopback],
    ['embedded', '127.0.0.2', '127.0.0.2', loopback],
    ['embedded', '::1', '::1', loopback],
    ['embedded', 'localhost', 'localhost', loopback],
    ['embedded', '0.0.0.0', '0.0.0.0', []],
    ['embedded', '::', '::', []],
    ['embedded', '192.0.2.1', '192.0.2.1', []],
    ['external', '', '0.0.0.0', []],
    ['external', '127.0.0.1', '127.0.0.1', []],
  ])('with the %s database and HOST %p listens on %s and allows %p', (store, HOST, host, allowedNetworks) => {
    const environment = store === 'external' ? { ...external, HOST } : { HOST };
    expect(parseConfig(environment)).toMatchObject({ host, allowedNetworks });
  });

  it('of LOCAL says whether HOST is a loopback address, and counts only with the embedded database', () => {
    const open = { HOST: '0.0.0.0' };
    expect([{}, open].map((environment) => parseConfig(environment).isLocal)).toEqual([true, false]);
    expect(parseConfig({ ...open, LOCAL: 'true' })).toMatchObject({ isLocal: true, allowedNetworks: loopback });
    expect(parseConfig({ LOCAL: 'false' })).toMatchObject({ isLocal: false, allowedNetworks: [] });
    expect(parseConfig({ ...external, LOCAL: 'true' })).toMatchObject({ isLocal: false, allowedNetworks: [] });
    expect(problemsOf({ LOCAL: 'yes' })).toEqual(['LOCAL must be true or false.']);
  });

  it('of ALLOWED_NETWORKS is replaced by any value, including an empty one', () => {
    expect(parseConfig({ ALLOWED_NETWORKS: '10.0.0.0/8' }).allowedNetworks).toEqual(['10.0.0.0/8']);
    expect(parseConfig({ ALLOWED_NETWORKS: '' }).allowedNetworks).toEqual([]);
  });
});

describe('EXTRA_EVENT_TYPES', () => {
  it('are comma-separated names', () => {
    const { extraEventTypes } = parseConfig({ EXTRA_EVENT_TYPES: 'invoice.paid, shop.order.shipped,' });
    expect(extraEventTypes).toEqual(['invoice.paid', 'shop.order.shipped']);
  });

  it('names each invalid entry with its reason', () => {
    expect(problemsOf({ EXTRA_EVENT_TYPES: 'a.b,in voice,webhook.sent,job.started,a.b,A.b,Job.started' })).toEqual([
      expect.stringMatching(/^EXTRA_EVENT_TYPES cannot be used: entry 2 is no event name: .*\.$/),
      expect.stringMatching(/^EXTRA_EVENT_TYPES cannot be used: entry 3, webhook.sent, is reserved: .*\.$/),
      'EXTRA_EVENT_TYPES cannot be used: entry 4, job.started, is built in already.',
      'EXTRA_EVENT_TYPES cannot be used: entry 5, a.b, is there twice.',
      'EXTRA_EVENT_TYPES cannot be used: entry 6, A.b, differs from a.b only in case.',
      'EXTRA_EVENT_TYPES cannot be used: entry 7, Job.started, differs from job.started only in case.',
    ]);
  });
});

describe('Invalid settings', () => {
  const FREE_TEXT = 'HOST DATA_DIR AUTH_ISSUER AUTH_AUDIENCE METRICS_HOST CONSOLE_NAME NO_PROXY USER_AGENT'.split(' ');
  const checked = SETTING_NAMES.filter((name) => !FREE_TEXT.includes(name));
  const wrong = {
    ...Object.fromEntries(checked.map((name) => [name, `canary://user:canary@${name}.canary`])),
    // Any text is valid for these, but they are required.
    AUTH_ISSUER: 'canary',
    AUTH_AUDIENCE: 'canary',
  };

  it('are all reported at once, one per line', () => {
    const { message, problems } = failureOf(wrong);
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual([...checked].sort());
    expect(message.split('\n').slice(1)).toEqual(problems.map((problem) => `  - ${problem}`));
  });

  it('are reported together with missing settings', () => {
    const names = problemsOf({ DATABASE_URL: 'canary', PORT: 'canary' }).map((problem) => problem.split(' ')[0]);
    expect(names.sort()).toEqual(['DATABASE_URL', 'PORT', 'SECRETS_KEY']);
  });

  it('are never quoted, neither in the message nor anywhere else in the error', () => {
    expect(inspect(failureOf(wrong), { depth: null, showHidden: true })).not.toMatch(/canary/i);
  });

  it('do not expose a valid secret or url in the message', () => {
    const environment = { ...external, DATABASE_URL: 'postgres://u:canary@db.canary/x', PORT: 'x' };
    const error = inspect(failureOf(environment), { depth: null, showHidden: true });
    expect(error).toContain('PORT');
    expect(error).not.toMatch(/canary/);
    expect(error).not.toContain(SECRETS_KEY);
  });
});
