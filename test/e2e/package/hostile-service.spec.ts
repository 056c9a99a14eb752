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

const DELIVERY = {
  ...{ id: ID, webhookId: ID, eventId: ID, event: 'job.started', attempt: 1, trigger: 'event', status: 'succeeded' },
  ...{ responseStatus: 200, durationMs: 5, error: null, completedAt: '2026-01-01T00:00:00.000Z' },
  ...{ createdAt: '2026-01-01T00:00:00.000Z' },
};
const MESSAGE = { leaseId: 'l', deliveryId: ID, expiresAt: '2026-01-01T00:00:00.000Z', headers: {}, body: '{}' };
const WEBHOOK = {
  id: ID,
  secret: 'secret',
  standardSecret: 'x',
  externalId: 'other',
  url: 'https://a.example/',
  events: ['a.b'],
};

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
  await writeFile(join(folder, 'webhooks.csv'), 'externalId,url,events\na,https://a.example/,a.b\n');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

/** Runs a command against the server, and interrupts it when it goes on. */
function run(args: readonly string[]): Promise<{ output: string; signal: string | null | undefined }> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { PATH: process.env.PATH, WEBHOOKS_TOKEN: `wns_${'T'.repeat(43)}`, WEBHOOKS_URL: url, NO_COLOR: '1' };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--max-old-space-size=600', LIBRARY_COMMAND, ...args],
      { env, maxBuffer: 1e8 },
      (error, stdout, stderr) => resolve({ output: stdout + stderr, signal: error?.signal }),
    );
    child.stdout?.once('data', () => child.kill('SIGINT'));
  });
}

const json = (response: ServerResponse, body: object): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(body));

/** Answers as the service does, with one object changed. */
function like(over: object): Answer {
  let calls = 0;
  return ({ url = '' }, response) => {
    calls += 1;
    const success = (data: unknown, more: object = {}) => json(response, { success: true, data, ...more });
    if (url.startsWith('/api/deliveries?'))
      return success(calls > 1 ? [{ ...DELIVERY, ...over }] : [], { nextCursor: 'c' });
    if (url.includes('/deliveries/')) return success({ ...DELIVERY, ...over });
    if (url.startsWith('/api/me')) return success({ userId: 'u', scopes: ['webhooks:write', 'messages:pull'] });
    if (url.startsWith('/api/about')) return success({ deliveryTimeoutMs: 1000 });
    if (url.endsWith('/lease')) return success(calls > 6 ? [] : [{ ...MESSAGE, ...over }]);
    if (url.startsWith('/api/event-types/')) return success({ name: 'a.b', example: {}, ...over });
    if (url.startsWith('/api/event-types')) return success([{ name: 'a.b' }]);
    if (url.startsWith('/api/webhooks?')) return success([{ ...WEBHOOK, ...over }], { nextCursor: null });
    return success({ ...WEBHOOK, ...over });
  };
}

const COMMANDS: [name: string, args: () => string[], fields: object][] = [
  ['tail', () => ['tail'], DELIVERY],
  ['tail --json', () => ['tail', '--json'], DELIVERY],
  ['redeliver', () => ['redeliver', ID], DELIVERY],
];
const VALUES: [string, unknown][] = [
  ['hostile', `x${HOSTILE}`],
  ['of another type', { [HOSTILE]: [HOSTILE, null, 1] }],
  ['null', null],
  ['missing', undefined],
];

describe.each(COMMANDS)('%s', (_, args, fields) => {
  it.each(VALUES)('prints every field that is %s without what a terminal obeys', async (_name, value) => {
    for (const field of Object.keys(fields)) {
      answer = like({ [field]: value });
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

it('import csv ends when the pages of the service do not', async () => {
  answer = ({ url = '' }, response) => {
    const rows = Array.from({ length: 250 }, () => ({ ...WEBHOOK, name: 'a.b', externalId: `e${Math.random()}` }));
    const isPaged = !url.startsWith('/api/event-types');
    json(response, { success: true, data: rows, ...(isPaged && { nextCursor: `c${Math.random()}` }) });
  };
  expect((await run(['import', 'csv', join(folder, 'webhooks.csv')])).output).toContain(
    'lists more than 10000 webhooks',
  );
});
