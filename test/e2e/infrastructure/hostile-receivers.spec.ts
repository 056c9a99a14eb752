import type { Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { dataOf, exchange } from '../../support/api';
import { type HostileOptions, useHostileReceivers } from '../../support/hostile-receiver';
import { useReceiver } from '../../support/receiver';
import { freePort, useServiceProcess } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../stage/steps';

const OK = 'HTTP/1.1 200 OK\r\n';
const PROBE = join(__dirname, '../stage/process-probe.cjs');

const every = (socket: Socket, ms: number, text: string) => {
  const timer = setInterval(() => socket.write(text), ms);
  socket.once('close', () => clearInterval(timer));
};
const pour = (socket: Socket, text: string) => {
  const flood = text.repeat(16_384 / text.length);
  const write = () => {
    while (socket.writable && socket.write(flood));
  };
  socket.on('drain', write);
  write();
};
const bomb = gzipSync(Buffer.alloc(20_000_000));

const answering = (...parts: (string | Buffer)[]): HostileOptions => ({
  onRequest: (socket) => parts.forEach((part) => socket.write(part)),
});
/** What receivers do to us, and what is written down about it. */
const DEEDS: Record<string, [HostileOptions, outcome: string]> = {
  'never replies': [{}, 'timeout'],
  'drips a header': [
    {
      onRequest: (socket) => {
        socket.write(`${OK}x-a: `);
        every(socket, 200, 'b');
      },
    },
    'timeout',
  ],
  'sends 103 for ever': [{ onRequest: (socket) => every(socket, 5, 'HTTP/1.1 103 Hints\r\n\r\n') }, 'timeout'],
  'pours empty lines': [{ onRequest: (socket) => pour(socket, '\r\n') }, 'timeout'],
  'resets at accept': [{ onConnection: (socket) => socket.resetAndDestroy() }, 'connection_reset'],
  'closes after the request': [{ onRequest: (socket) => socket.end() }, 'connection_reset'],
  'is an SSH server': [{ onConnection: (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n') }, 'invalid_response'],
  // The status line counts, whatever follows it.
  'sends 5,000 headers': [answering(`${OK}${'a: b\r\n'.repeat(5000)}\r\n`), 'succeeded'],
  'sends a 20 KB header': [answering(`${OK}x-a: ${'a'.repeat(20_000)}\r\n\r\n`), 'succeeded'],
  'redirects to the metadata service': [
    answering('HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n'),
    'redirect',
  ],
  'answers 999': [answering('HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n'), 'http_status'],
  'drips a body': [
    {
      onRequest: (socket) => {
        socket.write(`${OK}content-length: 1073741824\r\n\r\n`);
        every(socket, 200, 'b');
      },
    },
    'succeeded',
  ],
  'pours a body': [
    {
      onRequest: (socket) => {
        socket.write(`${OK}content-length: 1073741824\r\n\r\n`);
        pour(socket, 'f');
      },
    },
    'succeeded',
  ],
  'sends a gzip bomb': [
    answering(`${OK}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`, bomb),
    'succeeded',
  ],
};
const RECEIVERS = 100;
const HOSTILE_BODY = '\u0000\u001b[31mred\r\n{"level":60}<script>alert("body")</script>\u2028';
const HOSTILE_HEADER = '<script>alert("header")</script>\t\u00ff';

const hasControlCharacter = (text: string) => [...text].some((character) => character < ' ' || character === '\u007f');

let probePort: number;
beforeAll(async () => {
  probePort = await freePort();
});

describe('Receivers that wish us ill', () => {
  const service = useServiceProcess(() => ({
    NODE_OPTIONS: `--expose-gc --require ${PROBE}`,
    PROBE_PORT: String(probePort),
    MAX_WEBHOOKS_PER_USER: '200',
    MAX_RETRIES: '0',
    // Whoever answers at all does so within it, however busy the machine is.
    DELIVERY_TIMEOUT_MS: '10000',
    RETRY_BASE_DELAY_MS: '600000',
  }));
  const startHostile = useHostileReceivers();
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  const probe = async () =>
    JSON.parse((await exchange(`http://127.0.0.1:${probePort}`, 'GET', '/')).text) as {
      usedBytes: number;
      eventLoopP99Ms: number;
    };

  it('cost less than 50 MB when a hundred act at once, and other receivers are served meanwhile', async () => {
    const names = Object.keys(DEEDS);
    const hostile = await Promise.all(names.map((name) => startHostile(DEEDS[name]![0])));
    const webhooks = [];
    for (let i = 0; i < RECEIVERS; i += 1) {
      const { url } = hostile[i % names.length]!;
      webhooks.push(await subscribe(service.api, { url: `${url}/${i}` }, ['job.started']));
    }
    const others = receiver.hook();
    await subscribe(service.api, others, ['job.completed']);
    const before = await probe();
    const used: number[] = [];
    for (const round of [1, 2]) {
      const event = await publish(service.api, 'job.started');
      const startedAt = Date.now();
      for (let i = 0; i < 10; i += 1) await publish(service.api, 'job.completed');
      await others.received(10 * round);
      used.push((await probe()).usedBytes);
      const servedMs = Date.now() - startedAt;
      const outcomes = await Promise.all(
        webhooks.map(async (webhook) => {
          const [row] = await settledDeliveries(service.api, webhook, event, 'the outcome');
          return row!.status === 'succeeded' ? row!.status : row!.error!.code;
        }),
      );
      expect(outcomes).toEqual(webhooks.map((_, i) => DEEDS[names[i % names.length]!]![1]));
      const { usedBytes, eventLoopP99Ms } = await probe();
      used.push(usedBytes);
      process.stdout.write(
        `round ${round}: others were served in ${servedMs} ms, event loop p99 ${eventLoopP99Ms} ms\n`,
      );
    }
    expect(Math.max(...used) - before.usedBytes).toBeLessThan(50 * 1024 * 1024);
    await waitFor(() => hostile.every((one) => one.openConnections() === 0), { what: 'every connection to close' });
  });

  it('send bytes that are stored and shown safely: as JSON, as one line per log record, and never in Swagger UI', async () => {
    const bytes = Buffer.concat([Buffer.from(HOSTILE_BODY), Buffer.from([0xff])]);
    const head = `HTTP/1.1 500 \u00ffOops\r\nx-evil: ${HOSTILE_HEADER}\r\nset-cookie: a\r\ncontent-length: ${bytes.length}\r\n\r\n`;
    const { url } = await startHostile(answering(Buffer.concat([Buffer.from(head, 'latin1'), bytes])));
    const webhook = await subscribe(service.api, { url }, ['job.started'], { description: HOSTILE_BODY.slice(5) });
    const { id } = await dataOf(service.api.testWebhook(webhook.id));
    const shown = await exchange(service.url, 'GET', `/api/webhooks/${webhook.id}/deliveries/${id}`, {
      headers: { authorization: `Bearer ${service.token}` },
    });
    expect(shown.headers['content-type']).toMatch(/^application\/json/);
    expect(hasControlCharacter(shown.text)).toBe(false);
    const { response } = (JSON.parse(shown.text) as { data: { response: { body: string; headers: object } } }).data;
    // PostgreSQL stores no NUL.
    expect(response.body).toBe(`${HOSTILE_BODY}\ufffd`.replace('\u0000', '\ufffd'));
    expect(Object.keys(response.headers)).toContain('x-evil');
    for (const path of ['/docs', '/docs/openapi.json', '/docs/swagger-ui-init.js']) {
      const { text } = await exchange(service.url, 'GET', path);
      expect(text).not.toMatch(/alert\("(body|header)"\)|x-evil/);
    }
    const records = service
      .logs()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(records.filter(hasControlCharacter)).toEqual([]);
    const levels = records.map((line) => (JSON.parse(line) as { level: number }).level);
    expect(Math.max(...levels)).toBeLessThan(50);
    expect(service.logs()).not.toMatch(/alert|\[31m/);
  });
});
