import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { createConsoleLink } from '../../../src/commands/console-link.command';
import { rekey } from '../../../src/commands/rekey.command';
import { createToken } from '../../../src/commands/token-create.command';
import { verifyDelivery } from '../../../src/commands/verify.command';
import { misspelledSettings } from '../../../src/infrastructure/config/misspelled-settings';
import { parseConfig, SettingsError } from '../../../src/infrastructure/config/settings';
import { migrate } from '../../../src/infrastructure/database/migrator.setup';
import { CommandLine } from '../../../packages/webhook-notification-cli/src/command-line';
import { importCsv } from '../../../packages/webhook-notification-cli/src/import/import-csv';
import { listen } from '../../../packages/webhook-notification-cli/src/listen';
import { redeliver } from '../../../packages/webhook-notification-cli/src/redeliver';
import { tail } from '../../../packages/webhook-notification-cli/src/tail';
import { trigger } from '../../../packages/webhook-notification-cli/src/trigger';
import { UNKNOWN_ID } from '../../e2e/stage/examples';
import { answerAsVersion14 } from '../../support/old-postgres';
import { administrate, databaseUrl } from '../../support/postgres';
import { freePort, useService } from '../../support/service';

/** What an operator, a developer and a customer get wrong, and the whole sentence that each gets. `canary` is secret. */

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const TOKEN = `wns_${'A'.repeat(43)}`;

/** Words that tell readers what to do, or the rule that their input must follow. */
const REMEDY =
  /\b(must|may|cannot|reserved|required|requires|needs?|only|at most|lacks|without|go together|set|check|create|change|choose|rename|remove|raise|run|read|send|use|upgrade|enter|add|declare|name|wait|try|keep|connect|allow|has|are|known|valid|takes|revoke|usage)\b/i;

const seen = new Set<string>();
function expectSentence(actual: string, expected: string): void {
  expect(actual).toBe(expected);
  expect(actual).toMatch(REMEDY);
  expect(actual).not.toContain('canary');
  expect(actual).not.toMatch(/^\s+at |undefined|\[object/m);
  seen.add(actual);
}
afterAll(() => expect(seen.size).toBeGreaterThanOrEqual(55));

const failureOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no mistake',
    ({ message }: Error) => message,
  );

describe('A mistake in settings', () => {
  const external = { DATABASE_URL: 'postgres://u:canary@h/db', SECRETS_KEY };
  it.each<[environment: Record<string, string>, sentence: string]>([
    [
      { DATABSE_URL: 'postgres://u:canary@h/db' },
      'DATABSE_URL is no setting. Rename it to DATABASE_URL if you mean that, or else remove it.',
    ],
    [{ DATABASE_URL: 'postgres://u:canary@h/db' }, 'SECRETS_KEY is required together with DATABASE_URL.'],
    [{ DATABASE_URL: 'mysql://u:canary@h/db', SECRETS_KEY }, 'DATABASE_URL must be a postgres:// URL.'],
    [
      { DATABASE_URL: 'postgres://u:pa@canary@h/db', SECRETS_KEY },
      'DATABASE_URL must have the characters @ / ? # of its password written as %40 %2F %3F %23.',
    ],
    [
      { REDIS_URL: 'redis://:pa/canary@h' },
      'REDIS_URL must have the characters @ / ? # of its password written as %40 %2F %3F %23.\nREDIS_URL must be one redis:// or rediss:// URL, or the comma-separated ones of a cluster: alike but for host and port, without a database; or redis+sentinel://host:port,host:port/master.',
    ],
    [
      { REDIS_URL: 'h:6379' },
      'REDIS_URL must be one redis:// or rediss:// URL, or the comma-separated ones of a cluster: alike but for host and port, without a database; or redis+sentinel://host:port,host:port/master.',
    ],
    [
      { ...external, SECRETS_KEY: 'canary' },
      'SECRETS_KEY must be 32 bytes in base64 (several: comma-separated), for example from `openssl rand -base64 32`.',
    ],
    [{ BOOTSTRAP_TOKEN: 'canary' }, 'BOOTSTRAP_TOKEN must be `wns_` followed by 43 base64url characters.'],
    [{ ROLE: 'worker' }, 'ROLE must be all without DATABASE_URL: the embedded PostgreSQL serves one process.'],
    [{ ...external, ROLE: 'canary' }, 'ROLE must be one of all, api, worker.'],
    [{ PORT: '70000' }, 'PORT must be a whole number from 0 to 65535.'],
    [{ METRICS_PORT: '3000' }, 'METRICS_PORT must be another port than PORT.'],
    [{ DATABASE_POOL_SIZE: '1' }, 'DATABASE_POOL_SIZE must be a whole number from 2 to 100.'],
    [{ RETRY_JITTER: '0,2' }, 'RETRY_JITTER must be a number from 0 to 0.5.'],
    [{ REQUIRE_HTTPS: 'yes' }, 'REQUIRE_HTTPS must be true or false.'],
    [{ LOG_LEVEL: 'verbose' }, 'LOG_LEVEL must be one of silent, fatal, error, warn, info, debug, trace.'],
    [
      { ALLOWED_NETWORKS: '0.0.0.0/0' },
      'ALLOWED_NETWORKS must be comma-separated CIDRs such as 10.1.0.0/16, with a prefix of at least /8 (IPv6: /16).',
    ],
    [
      { TRUSTED_PROXIES: '10.0.0.1' },
      'TRUSTED_PROXIES must be comma-separated CIDRs such as 10.1.0.0/16, with a prefix of at least /8 (IPv6: /16).',
    ],
    [{ DNS_SERVERS: 'dns.example' }, 'DNS_SERVERS must be comma-separated IP addresses, each with an optional :port.'],
    [
      { EGRESS_PROXY: 'proxy.example' },
      'EGRESS_PROXY must be http://host:port or https://host:port, with user:password@ before the host if it requires them, both percent-encoded.',
    ],
    [{ EGRESS_PROXY_RESOLVES: 'true' }, 'EGRESS_PROXY is required: EGRESS_PROXY_RESOLVES is true.'],
    [{ EGRESS_CA_FILE: 'canary' }, 'EGRESS_CA_FILE must be the path of a file with certificates in PEM.'],
    [
      { AUTH_ISSUER: 'https://id.example/', AUTH_AUDIENCE: 'webhooks' },
      'AUTH_JWKS_URL is required: AUTH_JWKS_URL, AUTH_ISSUER, AUTH_AUDIENCE go together.',
    ],
    [
      { EXTRA_EVENT_TYPES: 'in voice' },
      'EXTRA_EVENT_TYPES cannot be used: entry 1 is no event name: parts of A-Z, a-z, 0-9, _ and -, with dots between them.',
    ],
    [
      { MONITORED_QUEUES: 'mail', AUTOMATION_QUEUES: 'reports' },
      'AUTOMATION_QUEUES must only name queues that MONITORED_QUEUES names in the same way.',
    ],
    [{ QUEUE_EVENTS_USER: 'no user' }, 'QUEUE_EVENTS_USER must be a user id: 1 to 128 of A-Z a-z 0-9 . _ @ : | -.'],
    [
      { CORS_ORIGINS: 'https://app.example/path' },
      'CORS_ORIGINS must be comma-separated origins such as https://app.example; http: only for localhost, 127.0.0.1 or [::1].',
    ],
    [{ CONSOLE_ACCENT: 'blue' }, 'CONSOLE_ACCENT must be a color such as #4f46e5.'],
    [{ QUEUE_PREFIX: '{a}' }, 'QUEUE_PREFIX must be 1 to 80 of A-Z a-z 0-9 . _ -.'],
  ])('%j gets its sentence', (environment, sentence) => {
    const problems = misspelledSettings(environment, ['DATABASE_URL']);
    try {
      parseConfig(environment, { values: {}, problems });
    } catch (error) {
      return expectSentence((error as SettingsError).problems.join('\n'), sentence);
    }
    throw new Error('These settings are accepted.');
  });
});

describe('A start on a database that does not fit', () => {
  const name = `mistaken_${randomBytes(4).toString('hex')}`;
  const [role, latin] = [`${name}_app`, `${name}_latin1`];
  const urlOf = (database: string, password = 'right') => {
    const url = new URL(databaseUrl(database));
    [url.username, url.password] = [role, password];
    return url.href;
  };
  let old: Server;
  let oldPort: number;
  beforeAll(async () => {
    oldPort = await freePort();
    old = createServer(answerAsVersion14).listen(oldPort, '127.0.0.1');
    await administrate(`create role ${role} login password 'right'`);
    await administrate(`create database ${name} encoding 'UTF8' template template0`);
    await administrate(`create database ${latin} encoding 'LATIN1' locale 'C' locale_provider libc template template0`);
  });
  afterAll(async () => {
    old.close();
    for (const each of [name, latin]) await administrate(`drop database ${each} with (force)`);
    await administrate(`drop role ${role}`);
  });

  it.each<[string, () => string, sentence: string]>([
    [
      'in LATIN1',
      () => urlOf(latin),
      'The database of DATABASE_URL has the encoding LATIN1, and the service requires UTF8. Create another one, and set DATABASE_URL to it: create database "app_latin1_utf8" owner "app_app" encoding \'UTF8\' template template0;',
    ],
    [
      'that is missing',
      () => urlOf(`${name}_none`),
      'The database of DATABASE_URL cannot be used: database "app_none" does not exist. Create it as an administrator: create database "app_none" owner "app_app" encoding \'UTF8\' template template0;',
    ],
    [
      'without the right to create a schema',
      () => urlOf(name),
      'permission denied for database app. Run as an administrator, in this database: grant create on database "app" to "app_app"; or create the schemas yourself: create schema webhook_service authorization "app_app"; create schema webhook_service_queue authorization "app_app";',
    ],
    [
      'that only reads',
      () => `${urlOf(name)}?options=-c%20default_transaction_read_only=on`,
      'The database of DATABASE_URL takes no writes: it is a standby, or default_transaction_read_only is on. Connect to the primary, or allow writes.',
    ],
    [
      'with a wrong password',
      () => urlOf(name, 'canary'),
      'The database of DATABASE_URL cannot be used: password authentication failed for user "app_app". Check user and password of DATABASE_URL, or of its file; the characters @ / ? # % are written %40 %2F %3F %23 %25.',
    ],
    [
      'at a port where nothing listens',
      () => 'postgres://u:canary@127.0.0.1:1/d',
      'The database of DATABASE_URL cannot be used: connect ECONNREFUSED 127.0.0.1:1. Check host and port of DATABASE_URL, and that the server runs.',
    ],
    [
      'at an unknown host',
      () => 'postgres://u:canary@nowhere.invalid/d',
      'The database of DATABASE_URL cannot be used: getaddrinfo ENOTFOUND nowhere.invalid. Check the host of DATABASE_URL.',
    ],
    [
      'at an unknown socket',
      () => 'postgres://u:canary@/d?host=/nowhere',
      'The database of DATABASE_URL cannot be used: connect ENOENT /nowhere/.s.PGSQL.5432. Check the folder of its socket: host= of DATABASE_URL.',
    ],
    [
      'of PostgreSQL 14',
      () => `postgres://u:canary@127.0.0.1:${oldPort}/d`,
      'The server of DATABASE_URL is PostgreSQL 14.12 (Debian 14.12-1): the service requires PostgreSQL 15 or newer. Upgrade it, or set DATABASE_URL to another one.',
    ],
  ])('%s gets its sentence', async (_, url, sentence) => {
    const actual = await failureOf(migrate(url()));
    expectSentence(actual.replaceAll(name, 'app'), sentence);
  });
});

describe('A mistake in a request', () => {
  const service = useService({ MAX_WEBHOOKS_PER_USER: '2' });
  const hook = { url: 'https://example.com/hook', events: ['job.started'] };
  const paid = {
    event: 'job.started',
    data: { jobId: 'a', queue: 'q', name: 'n', attempt: 1, startedAt: '2026-01-15T09:30:00Z' },
  };

  it.each<[call: string, body: unknown, sentence: string]>([
    ['POST /api/webhooks', { ...hook, url: 'example.com' }, 'Enter a full URL that begins with http:// or https://'],
    [
      'POST /api/webhooks',
      { ...hook, url: 'http://10.0.0.1/' },
      'url must not point to a special-purpose address (private network) unless ALLOWED_NETWORKS lists it',
    ],
    [
      'POST /api/webhooks',
      { ...hook, url: 'https://u:canary@example.com/' },
      'url must not contain a user name or password',
    ],
    ['POST /api/webhooks', { ...hook, events: [] }, 'Choose at least one event'],
    ['POST /api/webhooks', { ...hook, event: 'job.started' }, 'event is not a known field'],
    [
      'POST /api/webhooks',
      { ...hook, secret: 'whsec_canary!' },
      'secret must have only base64 after whsec_, without spaces',
    ],
    [
      'POST /api/webhooks',
      { ...hook, secret: 'canary' },
      'secret must be 8 to 256 printable characters without control characters',
    ],
    [
      'POST /api/webhooks',
      { ...hook, headers: { host: 'canary' } },
      'headers.host is set by the service or a proxy, and cannot be set here',
    ],
    ['POST /api/webhooks', { ...hook, filter: {} }, 'filter must have at least one condition'],
    [
      'POST /api/webhooks',
      { ...hook, format: 'teams ' },
      'format must be one of native, payload, standard, cloudevents, slack, discord, teams',
    ],
    ['POST /api/webhooks', { ...hook, timeoutMs: 1 }, 'timeoutMs must be a whole number from 500 to 60000'],
    ['POST /api/webhooks', '{"url":', 'The request body is not valid JSON.'],
    [
      'POST /api/webhooks',
      '{"url":"https://a.example","url":"https://b.example"}',
      'url must occur only once in its object',
    ],
    ['POST /api/webhooks', 'null', 'The request body must be a JSON object, not null.'],
    [
      `PATCH /api/webhooks/${UNKNOWN_ID}`,
      {},
      'Name at least one field to change: url, events, secret, description, metadata, externalId, filter, format, headers, timeoutMs, retryDelaysMs, maxPerSecond, idleSeconds, fields or active.',
    ],
    ['GET /api/webhooks/17', undefined, '"17" is not an id: ids are UUIDs.'],
    ['GET /api/webhooks?limit=1000', undefined, 'limit must be a whole number from 1 to 250'],
    [
      'GET /api/webhooks?cursor=canar',
      undefined,
      'The cursor is not valid for this list: use the nextCursor of the previous page with the same filters.',
    ],
    ['PUT /api/webhooks', hook, '/api/webhooks has no method PUT: it has GET, HEAD, POST.'],
    [
      'POST /api/events',
      '{"event":"job.started","data":{"attempt":9007199254740993}}',
      'data.attempt must not be beyond ±9007199254740991; send larger ones as strings',
    ],
    [
      'POST /api/events',
      { ...paid, event: 'webhook.disabled' },
      'webhook.disabled is reserved: only the service itself publishes webhook.* events.',
    ],
    [
      'POST /api/events',
      { ...paid, data: {} },
      "data must have required property 'jobId'; data must have required property 'queue'; data must have required property 'name'; data must have required property 'attempt'; data must have required property 'startedAt'",
    ],
    ['POST /api/events', { ...paid, idempotencyKey: '' }, 'idempotencyKey must be 1 to 255 printable ASCII characters'],
    [
      'POST /api/events/batch',
      { events: [] },
      'The request body must be a JSON object with events: a list of 1 to 100 events, each as POST /api/events accepts it.',
    ],
    [
      'POST /api/tokens',
      { name: 'x', scopes: ['all'] },
      'scopes must be among webhooks:read, webhooks:write, deliveries:read, messages:pull, events:publish, events:broadcast, event-types:manage, accounts:manage, tokens:manage, users:manage, users:erase',
    ],
    [
      'POST /api/tokens',
      { name: 'x', scopes: ['webhooks:read'], expiresAt: '2020-01-01T00:00:00Z' },
      'expiresAt must be in the future.',
    ],
    [
      'POST /api/event-types',
      { name: 'pa id', description: 'x' },
      'name "pa id" is no event name: parts of A-Z, a-z, 0-9, _ and -, with dots between them',
    ],
    [
      'POST /api/filter-checks',
      { filter: { 'data.a': { gt: 'x' } }, event: 'a.b', data: {} },
      'filter["data.a"].gt must be a finite number',
    ],
    [
      'POST /api/format-previews',
      { format: 'irc', event: 'a.b', data: {} },
      'format must be one of native, payload, standard, cloudevents, slack, discord, teams',
    ],
    [
      'DELETE /api/console-sessions',
      undefined,
      'This token is not a console session. Revoke it with DELETE /api/tokens/:id.',
    ],
    ['POST /api/accounts', { provider: 'myspace', handle: 'x' }, 'provider must be one of mastodon, bluesky, push'],
  ])('%s with %j gets its sentence', async (call, body, sentence) => {
    const [method, path] = call.split(' ') as [string, string];
    const sent = typeof body === 'string' ? { rawBody: body } : { body };
    const reply = await service.api.call(method, path, sent);
    if (reply.success) throw new Error('This request is accepted.');
    expectSentence(reply.error, sentence);
  });

  it('without a token, and with a wrong one, gets a sentence', async () => {
    const sentence = 'Authentication required: send a valid access token as "Authorization: Bearer <token>".';
    for (const token of ['', TOKEN]) {
      const reply = await service.api.withToken(token).call('GET', '/api/webhooks');
      if (!reply.success) expectSentence(reply.error, sentence);
      expect(reply.status).toBe(401);
    }
  });
});

describe('A mistake in a command', () => {
  it.each<[string, (args: string[]) => Promise<void>, string[], sentence: string]>([
    ['token create', createToken, [], '--user must be 1 to 128 of the characters A-Z a-z 0-9 . _ @ : | -'],
    ['token create', createToken, ['--user', 'ada'], 'Name at least one scope with --scopes'],
    [
      'token create',
      createToken,
      ['--user', 'ada', '--scopes', 'webhooks:raed'],
      'Unknown scopes: webhooks:raed. Choose among webhooks:read, webhooks:write, deliveries:read, messages:pull, events:publish, events:broadcast, event-types:manage, accounts:manage, tokens:manage, users:manage, users:erase.',
    ],
    [
      'token create',
      createToken,
      ['--user', 'ada', '--scopes', 'all', '--expires', 'tomorrow'],
      '--expires must be an ISO 8601 time in the future, such as 2099-01-15T09:30:00Z',
    ],
    ['token create', createToken, ['--usr', 'ada'], "Unknown option '--usr'"],
    [
      'console-link',
      createConsoleLink,
      ['--user', 'ada', '--path', '/api'],
      '--path must be a page of the console, such as /console',
    ],
    [
      'console-link',
      createConsoleLink,
      ['--user', 'ada', '--expires-in', '1'],
      '--expires-in must be 300 to 604800 seconds',
    ],
    ['rekey', rekey, ['--foce'], "Unknown option '--foce'"],
    ['verify', verifyDelivery, ['a', 'b'], 'Name one file only.'],
    ['verify', verifyDelivery, ['--headers', 'a'], '--headers and --body go together.'],
    ['verify', verifyDelivery, ['--tolerance', 'x'], '--tolerance must be a whole number of seconds.'],
    ['verify', verifyDelivery, ['a'], 'Set WEBHOOK_SECRET, or name a file with --secret-file.'],
  ])('%s with its arguments (%#) gets its sentence', async (_, run, args, sentence) => {
    // The program adds the usage: wrong-database.spec.ts.
    expectSentence(`${await failureOf(run(args))}\nUsage`, `${sentence}\nUsage`);
    process.exitCode = 0;
  });

  it.each<[string, typeof tail, string[], Record<string, string>, sentence: string]>([
    [
      'tail',
      tail,
      [],
      {},
      'WEBHOOKS_TOKEN is missing: set it to an access token of the service.\nUsage: webhook-notification tail [--webhook <id>] [--status <status>] [--json] [--service <url>]',
    ],
    [
      'tail',
      tail,
      ['--service', 'http://u:canary@h/'],
      { WEBHOOKS_TOKEN: TOKEN },
      'WEBHOOKS_URL or --service must be a full URL such as https://hooks.example.com, without a password or query.\nUsage: webhook-notification tail [--webhook <id>] [--status <status>] [--json] [--service <url>]',
    ],
    [
      'trigger',
      trigger,
      [],
      { WEBHOOKS_TOKEN: TOKEN },
      'It takes one event.\nUsage: webhook-notification trigger <event> [--data <file>] [--subject <text>] [--user <id>] [--service <url>]',
    ],
    [
      'trigger',
      trigger,
      ['a.b', '--service', 'http://example.com'],
      { WEBHOOKS_TOKEN: TOKEN },
      'The token would be sent in clear text: only a service on this machine may be http:.\nUsage: webhook-notification trigger <event> [--data <file>] [--subject <text>] [--user <id>] [--service <url>]',
    ],
    [
      'redeliver',
      redeliver,
      [],
      { WEBHOOKS_TOKEN: TOKEN },
      'It takes one delivery.\nUsage: webhook-notification redeliver <delivery> [--service <url>]',
    ],
    [
      'listen',
      listen,
      [],
      { WEBHOOKS_TOKEN: TOKEN },
      '--to is missing.\nUsage: webhook-notification listen --to <url> [--events <names>] [--webhook <id> --yes] [--exit-after <number>] [--timeout <seconds>] [--print] [--json]\n       [--service <url>]',
    ],
    [
      'import csv',
      importCsv,
      [],
      { WEBHOOKS_TOKEN: TOKEN },
      'It takes one file.\nUsage: webhook-notification import csv <file> [--map <file>] [--format <format>] [--activate] [--yes] [--service <url>]',
    ],
  ])('%s of the package for commands (%#) gets its sentence', async (_, command, args, environment, sentence) => {
    const run = async () => command.run(CommandLine.parse(command, args, environment));
    expectSentence((await failureOf(run())).split('\n\n')[0]!, sentence);
  });
});
