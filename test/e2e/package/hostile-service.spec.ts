import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIBRARY_COMMAND } from '../stage/listener';

/** What a terminal would obey: a title, a cleared screen, the clipboard, a direction, a line. */
const HOSTILE = '\u001b]0;OWNED\u0007\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u202e\u2028\u009b';
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const ID = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';

const AT = '2026-01-01T00:00:00.000Z';
const DELIVERY = {
  ...{ id: ID, webhookId: ID, eventId: ID, event: 'job.started', attempt: 1, trigger: 'event', status: 'succeeded' },
  ...{ responseStatus: 200, durationMs: 5, error: null, completedAt: AT, createdAt: AT },
};
const HEADERS = { 'x-service-event': 'job.started', 'x-service-attempt': '1', 'webhook-id': ID };
const MESSAGE = { leaseId: 'l', deliveryId: ID, expiresAt: AT, headers: HEADERS, body: '{}' };
/** Of an import that a run before this one has begun. */
const WEBHOOK = {
  ...{ id: ID, kind: 'push', externalId: 'a', url: 'https://old.example/', events: ['a.b'], secret: 'secret' },
  ...{ description: null, metadata: {}, headers: {}, filter: null, format: 'native', timeoutMs: null },
  ...{ retryDelaysMs: null, maxPerSecond: null, active: false, disabledReason: null, updatedAt: AT },
};
const TYPE = { name: 'a.b', example: {} };
const ME = { userId: 'u', scopes: ['webhooks:write', 'messages:pull'] };
const ABOUT = { version: '1.0.0', deliveryTimeoutMs: 1000, maxWebhooksPerUser: 100 };
const ENDPOINT = {
  ...{ id: 'ep_1', uid: 'u', url: 'https://a.example/', description: 'd', disabled: false, filterTypes: ['a.b'] },
  ...{ channels: ['c'], rateLimit: 5, metadata: { a: 'b' } },
};
const SECRET = { key: `whsec_${Buffer.alloc(24).toString('base64')}` };
const SVIX_HEADERS = { headers: { 'x-a': 'b' }, sensitive: ['x-b'] };

/** What the service, or Svix, answers about one thing. */
const THINGS = {
  ...{ delivery: DELIVERY, message: MESSAGE, webhook: WEBHOOK, type: TYPE, event: { id: ID }, me: ME, about: ABOUT },
  ...{ app: { id: 'app_1' }, endpoint: ENDPOINT, secret: SECRET, headers: SVIX_HEADERS },
  transformation: { enabled: true, code: 'x' },
};
type Thing = keyof typeof THINGS;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
let answer: Answer;
let server: Server;
let folder: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  await writeFile(csv(), 'externalId,url,events\na,https://a.example/,a.b\n');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

const addressOf = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Runs a command against the server, and interrupts it when it goes on. */
function run(args: readonly string[]): Promise<{ output: string; signal: string | null | undefined }> {
  const token = `wns_${'T'.repeat(43)}`;
  const own = {
    PATH: process.env.PATH,
    NO_COLOR: '1',
    SVIX_TOKEN: 'testsk_x',
    WEBHOOK_SECRET: 'correct horse battery',
  };
  const env = { ...own, WEBHOOKS_TOKEN: token, WEBHOOKS_URL: addressOf() };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--max-old-space-size=600', LIBRARY_COMMAND, ...args],
      { env, maxBuffer: 1e8 },
      (error, stdout, stderr) => resolve({ output: stdout + stderr, signal: error?.signal }),
    );
    if (['tail', 'listen'].includes(args[0] ?? '')) child.stdout?.once('data', () => child.kill('SIGINT'));
  });
}

const json = (response: ServerResponse, body: object): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(body));

/** Answers as the service and Svix do, with one thing changed. */
function like(changed: Thing, over: object): Answer {
  const is = (thing: Thing) => ({ ...THINGS[thing], ...(thing === changed && over) });
  let pages = 0;
  return ({ url = '', method }, response) => {
    const success = (data: unknown, more: object = {}) => json(response, { success: true, data, ...more });
    if (url.startsWith('/api/deliveries?'))
      return success((pages += 1) > 1 ? [is('delivery')] : [], { nextCursor: 'c' });
    if (url.includes('/deliveries/')) return success(is('delivery'));
    if (url.startsWith('/api/me')) return success(is('me'));
    if (url.startsWith('/api/about')) return success(is('about'));
    if (url.endsWith('/lease')) return success((pages += 1) > 3 ? [] : [is('message')]);
    if (url.startsWith('/api/event-types/')) return success(is('type'));
    if (url.startsWith('/api/event-types')) return success([is('type')]);
    if (url.startsWith('/api/events')) return success(is('event'));
    if (url.startsWith('/api/webhooks') && method === 'GET') return success([is('webhook')], { nextCursor: null });
    if (!url.startsWith('/api/v1/app')) return success(is('webhook'));
    if (url.endsWith('/secret')) return json(response, is('secret'));
    if (url.endsWith('/headers')) return json(response, is('headers'));
    if (url.endsWith('/transformation')) return json(response, is('transformation'));
    return json(
      response,
      url.includes('/endpoint') ? { data: [is('endpoint')], iterator: null, done: true } : is('app'),
    );
  };
}

const csv = () => join(folder, 'webhooks.csv');
const LISTEN = ['listen', '--to', 'http://127.0.0.1:9', '--timeout', '600'];
const importSvix = () => ['import', 'svix', '--app', 'app_1', '--svix', addressOf(), '--yes', '--activate'];
/** Every command that asks a server, with what is changed in its answers. */
const COMMANDS: [name: string, args: () => string[], things: Thing[]][] = [
  ['tail', () => ['tail'], ['delivery']],
  ['tail --json', () => ['tail', '--json'], ['delivery']],
  ['redeliver', () => ['redeliver', ID], ['delivery']],
  ['trigger', () => ['trigger', 'job.started'], ['type', 'event']],
  ['listen', () => [...LISTEN, '--print'], ['message', 'me', 'about']],
  ['listen --json', () => [...LISTEN, '--json', '--print'], ['message']],
  ['import csv', () => ['import', 'csv', csv(), '--yes', '--activate'], ['webhook', 'type', 'about']],
  ['import svix', importSvix, ['app', 'endpoint', 'secret', 'headers', 'transformation']],
];
const VALUES: [string, unknown][] = [
  ['hostile', `x${HOSTILE}`],
  ['of another type', { [HOSTILE]: [HOSTILE, null, 1] }],
  ['null', null],
];

describe.each(COMMANDS)('%s', (name, args, things) => {
  const fields = things.flatMap((thing) => Object.keys(THINGS[thing]).map((field) => [thing, field] as const));

  // With --json only the printing differs.
  const values = name.endsWith('--json') ? VALUES.slice(0, 1) : VALUES;

  it.each(values)('prints every field that is %s without what a terminal obeys', async (_name, value) => {
    for (const [thing, field] of fields) {
      answer = like(thing, { [field]: value });
      const { output } = await run(args());
      expect([field, UNPRINTABLE.exec(output)?.[0]]).toEqual([field, undefined]);
      expect([field, /^\s+at .*:\d+/m.exec(output)?.[0]]).toEqual([field, undefined]);
    }
  });

  it('prints errors, redirects and pages of others in the same way, and ends', async () => {
    const answers: Answer[] = [
      (_request, response) => {
        response.statusCode = 403;
        const details = [{ field: HOSTILE, code: HOSTILE, message: HOSTILE }];
        json(response, { success: false, error: `no ${HOSTILE}`, code: HOSTILE, requestId: HOSTILE, details });
      },
      (_request, response) => json(response, { success: false, error: [HOSTILE], code: 7, details: HOSTILE }),
      (_request, response) =>
        void response.writeHead(404, { 'content-type': `text/${encodeURI(HOSTILE)}` }).end(HOSTILE),
      (_request, response) => void response.writeHead(302, { location: '/\u009b' }).end(),
      (_request, response) => json(response, { success: true, data: null, nextCursor: { a: 1 } }),
    ];
    for (answer of answers) {
      const { output, signal } = await run(args());
      expect(UNPRINTABLE.exec(output)?.[0]).toBeUndefined();
      expect(signal ?? null).toBeNull();
    }
  });

  it('ends when an answer does not', async () => {
    const chunk = Buffer.alloc(1 << 20, ' ');
    answer = (_request, response) => {
      response.setHeader('content-type', 'application/json').write('{"success":true,"data":"');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    };
    const { output, signal } = await run(args());
    expect(output).toContain('larger than');
    expect(signal ?? null).toBeNull();
  });
});

it.each([() => `e${Math.random()}`, () => null])(
  'import csv ends when the pages of the service do not',
  async (idOf) => {
    answer = ({ url = '' }, response) => {
      if (url.startsWith('/api/about')) return json(response, { success: true, data: ABOUT });
      const rows = Array.from({ length: 250 }, () => ({ ...WEBHOOK, name: 'a.b', externalId: idOf() }));
      const isPaged = !url.startsWith('/api/event-types');
      json(response, { success: true, data: rows, ...(isPaged && { nextCursor: `c${Math.random()}` }) });
    };
    expect((await run(['import', 'csv', csv()])).output).toContain('lists more than 10000 webhooks');
  },
);

it('walks over every command that asks a server', async () => {
  const { output } = await run(['--help']);
  const names = [...output.matchAll(/webhook-notification ((?:import )?[a-z]+) (?!<command>)/g)].map(
    ([, name]) => name,
  );
  const walked = COMMANDS.map(([name]) => name.replace(' --json', ''));
  // status: see outbox-command.spec.ts.
  const others = ['outbox', 'status', 'completion'];
  expect([...new Set(names)].filter((name) => !others.includes(name!)).sort()).toEqual([...new Set(walked)].sort());
});
