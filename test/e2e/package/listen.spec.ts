import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo } from 'node:net';
import { Webhook as SvixWebhook } from 'svix';
import { type Api, type Delivery, dataOf, errorOf, pageOf } from '../../support/api';
import { makeAuthority } from '../../support/hostile-certificates';
import { cloneDatabase } from '../../support/postgres';
import { type Hook, useReceiver } from '../../support/receiver';
import { freePort, type Service, startService, useService } from '../../support/service';
import { verifyStandardWebhook } from '../../support/signatures';
import { waitFor } from '../../support/wait-for';
import { LIBRARY_COMMAND, type Listener, startListener } from '../stage/listener';
import { publish } from '../stage/steps';

const SCOPES = ['webhooks:read', 'webhooks:write', 'messages:pull', 'deliveries:read', 'events:publish'];
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const NEVER = new Promise<never>(() => undefined);

/** Runs a command of the library to its end. */
function run(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env } };
    execFile(process.execPath, [LIBRARY_COMMAND, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

const webhookIds = async (api: Api) => (await pageOf(api.listWebhooks())).rows.map(({ id }) => id);
const logOf = async (api: Api, webhookId: string): Promise<Delivery[]> =>
  (await pageOf(api.listDeliveries(webhookId))).rows.reverse();
const pull = (api: Api) => dataOf(api.createWebhook({ kind: 'pull', events: ['*'] }), 201);

/** Publishes until the command, which forwards one event, has ended. */
async function withEvents<T>(api: Api, command: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = command.finally(() => (isOver = true));
  const publishAnother = async () => isOver || void (await publish(api, 'follower.gained'));
  await waitFor(publishAnother, { what: 'the end of the command', everyMs: 200 });
  return ended;
}

describe('webhook-notification listen', () => {
  const service = useService({ SIGNATURE_HEADERS: 'svix', DELIVERY_TIMEOUT_MS: '5000', EXTRA_EVENT_TYPES: 'a.b' });
  const receiver = useReceiver();
  let users = 0;

  /** A user of the test's own, as only whose webhooks get its events. */
  async function newUser(scopes = SCOPES) {
    const token = await service.createToken(`user-${(users += 1)}`, scopes);
    const env = { WEBHOOKS_TOKEN: token };
    return {
      api: service.api.withToken(token),
      env,
      listen: (to: string, options: readonly string[] = [], more: Record<string, string> = {}): Listener =>
        startListener(['--to', to, '--service', service.url, ...options], { ...env, ...more }),
      run: (...args: string[]) => run([...args, '--service', service.url], env),
      /** A shell that runs the command, in words of its own. */
      shell: (words: string, more: Record<string, string> = {}) =>
        execFile('sh', ['-c', `'${process.execPath}' '${LIBRARY_COMMAND}' ${words}`], {
          env: { ...process.env, ...env, ...more },
        }),
    };
  }

  it('forwards an event whose signatures standardwebhooks and svix accept, and tail shows the attempt', async () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const hook = receiver.hook();
    const { api, env, listen, run } = await newUser();
    const listener = listen(hook.url, ['--events', 'follower.*,a.b', '--exit-after', '1'], { WEBHOOK_SECRET: secret });
    const id = await listener.webhookId();
    expect(await dataOf(api.readWebhook(id))).toMatchObject({
      kind: 'pull',
      idleSeconds: 120,
      events: ['follower.*', 'a.b'],
    });
    const tail = execFile(process.execPath, [LIBRARY_COMMAND, 'tail', '--service', service.url], {
      env: { ...process.env, ...env },
    });
    let tailed = '';
    for (const stream of [tail.stdout, tail.stderr]) stream?.on('data', (text: string) => (tailed += text));
    await waitFor(() => tailed.includes('Waiting'), { what: 'tail to wait for attempts' });

    expect((await run('trigger', 'job.started')).code).toBe(0);
    const { stdout: eventId } = await run('trigger', 'follower.gained');
    const [call] = await hook.received(1);
    expect(verifyStandardWebhook(call!, secret)).toMatchObject({ id: eventId.trim(), event: 'follower.gained' });
    expect(() => new SvixWebhook(secret).verify(call!.body, call!.headers as Record<string, string>)).not.toThrow();
    expect(call).toMatchObject({ method: 'POST', headers: { 'x-service-attempt': '1', 'webhook-id': eventId.trim() } });
    expect(call!.headers.authorization).toBeUndefined();
    expect(await listener.ended()).toBe(0);
    expect(listener.lines()).toMatch(
      /^\d\d:\d\d:\d\d {2}follower\.gained {2}succeeded \(attempt 1\) {2}200 {2}\d+ ms {2}[0-9a-f-]{36}\n$/,
    );
    await waitFor(() => /follower\.gained {2}succeeded \(attempt 1\)/.test(tailed), { what: 'the line of tail' });
    tail.kill();
    expect(hook.calls).toHaveLength(1);
    expect(await webhookIds(api)).toEqual([]);
  });

  it('acknowledges a failure with its reason, and forwards the retry', async () => {
    const hook = receiver.hook({ status: 500 }, { status: 204 });
    const { api, listen, run } = await newUser();
    const listener = listen(hook.url, ['--json', '--print']);
    const id = await listener.webhookId();
    await run('trigger', 'follower.gained');
    await listener.line(/"attempt":2/);
    await waitFor(async () => (await logOf(api, id)).every(({ status }) => status !== 'pending'), { what: 'the log' });
    expect(await logOf(api, id)).toMatchObject([
      { attempt: 1, status: 'failed', error: { code: 'rejected', message: 'Your server answered 500.' }, url: null },
      { attempt: 2, status: 'succeeded', error: null, url: null },
    ]);
    const [first, second] = listener
      .lines()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(first).toMatchObject({
      event: 'follower.gained',
      status: 'failed',
      attempt: 1,
      trigger: 'event',
      responseStatus: 500,
      error: 'Your server answered 500.',
      deliveryId: (await logOf(api, id))[0]!.id,
      body: hook.calls[0]!.body.toString(),
    });
    expect(second).toMatchObject({ status: 'succeeded', attempt: 2, responseStatus: 204, error: null });
    expect(await listener.end('SIGINT')).toBe(0);
  });

  describe('with a server that', () => {
    const servers: Server[] = [];
    let [raw, secure] = ['', ''];
    const started = async (server: Server) => {
      servers.push(server.listen(0, '127.0.0.1'));
      await waitFor(() => server.listening, { what: 'the server' });
      return `//127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    beforeAll(async () => {
      const answer = createServer((request, response) => {
        if (request.url === '/garbage') request.socket.end('no HTTP\r\n\r\n');
        else if (request.url === '/upgrade')
          request.socket.end('HTTP/1.1 101 Switching\r\nupgrade: a\r\nconnection: upgrade\r\n\r\n');
        else response.writeHead(200).write('a body that never ends');
      });
      raw = await started(answer);
      secure = await started(createTlsServer(makeAuthority('an authority of its own').issue('127.0.0.1')));
    });
    afterAll(() =>
      servers.forEach((server) => {
        server.close();
        server.closeAllConnections();
      }),
    );

    it.each<[string, () => string | Promise<string>, string | RegExp]>([
      [
        'redirects',
        () => receiver.hook({ status: 302, headers: { location: '/' } }).url,
        /^Your server answered 302; /,
      ],
      ['is slow', () => receiver.hook({ after: NEVER }).url, 'Your server did not answer within 5 s.'],
      ['hangs up', () => receiver.hook({ drop: true }).url, 'Your server closed the connection without an answer.'],
      ['is down', async () => `http://localhost:${await freePort()}/`, /^Nothing listens at .* \(ECONNREFUSED\)\.$/],
      ['speaks no TLS', () => `https:${raw}`, /^TLS with your server failed \(E[A-Z_]+\)\.$/],
      [
        'has a certificate of its own',
        () => `https:${secure}`,
        /^Your server's certificate is not trusted \([A-Z_]+\)\. /,
      ],
      ['speaks no HTTP', () => `http:${raw}/garbage`, /^Your server's answer is not valid HTTP \(HPE_[A-Z_]+\)\.$/],
      ['changes the protocol', () => `http:${raw}/upgrade`, /^Your server closed the connection without an answer\.$/],
    ])('%s, says so in its line and in the log', async (_, to, reason) => {
      const { api, listen } = await newUser();
      const { id } = await pull(api);
      const listener = listen(await to(), ['--webhook', id, '--yes']);
      await listener.webhookId();
      await publish(api, 'follower.gained');
      const failure = await listener.line(/failed \(attempt 1\)/);
      const [first] = await waitFor(
        async () => {
          const rows = await logOf(api, id);
          return rows[0]?.status === 'failed' && rows;
        },
        { what: 'the acknowledgement' },
      );
      const matching = typeof reason === 'string' ? reason : (expect.stringMatching(reason) as string);
      expect(first!.error).toEqual({ code: 'rejected', message: matching });
      expect(failure).toContain(`  ${first!.error!.message}  `);
      expect(await listener.end('SIGTERM')).toBe(0);
      expect(await webhookIds(api)).toEqual([id]);
    });

    it('never ends its answer, counts the status', async () => {
      const { api, listen } = await newUser();
      const listener = listen(`http:${raw}`, ['--exit-after', '1']);
      await listener.webhookId();
      await publish(api, 'follower.gained');
      expect(await listener.ended()).toBe(0);
    });
  });

  it.each<NodeJS.Signals>(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    'on %s finishes or gives up what is in flight, acknowledges it, and deletes its webhook',
    async (signal) => {
      const hook = receiver.hook({ delayMs: 300 });
      const { api, listen } = await newUser();
      const [own, silent] = [listen(hook.url), receiver.hook({ after: NEVER })];
      const { id } = await pull(api);
      const other = listen(silent.url, ['--webhook', id, '--yes']);
      await Promise.all([own.webhookId(), other.webhookId()]);
      await publish(api, 'follower.gained');
      await Promise.all([hook.received(1), silent.received(1)]);
      expect(await Promise.all([own.end(signal), other.end(signal)])).toEqual([0, 0]);
      expect(own.lines()).toContain('succeeded (attempt 1)');
      const error = { code: 'rejected', message: 'listen ended before your server answered.' };
      expect(other.lines()).toContain(`failed (attempt 1)  ${error.message}`);
      expect((await logOf(api, id))[0]).toMatchObject({ status: 'failed', error });
      expect(await webhookIds(api)).toEqual([id]);
    },
  );

  it('ends when nobody reads its output any more', async () => {
    const { api, shell } = await newUser();
    shell(`listen --timeout 120 --service '${service.url}' --to '${receiver.hook().url}' | head -n 1`);
    await waitFor(async () => (await webhookIds(api)).length === 1, { what: 'its webhook' });
    const isOver = async () => {
      await publish(api, 'follower.gained');
      return (await webhookIds(api)).length === 0;
    };
    // eslint-disable-next-line no-restricted-syntax -- the promise is an end before the service deletes it as idle, after 120 s
    await waitFor(isOver, { what: 'the end', everyMs: 200, timeoutMs: 60_000 });
  });

  it('ends with the npx that has started it', async () => {
    const { api, shell } = await newUser();
    const npx = shell(`listen --timeout 120 --service '${service.url}' --to '${receiver.hook().url}'; true`, {
      npm_command: 'exec',
    });
    await waitFor(async () => (await webhookIds(api)).length === 1, { what: 'its webhook' });
    npx.kill('SIGTERM');
    await waitFor(async () => (await webhookIds(api)).length === 0, { what: 'the end' });
  });

  it('exits with 1 after --timeout, and says how many successes were missing', async () => {
    const hook = receiver.hook();
    const { api, listen } = await newUser();
    // On a busy machine three seconds may be over before the event has come.
    for (const seconds of ['3', '10', '60']) {
      const listener = listen(hook.url, ['--exit-after', '2', '--timeout', seconds]);
      await listener.webhookId();
      await publish(api, 'follower.gained');
      expect(await listener.ended()).toBe(1);
      expect(await webhookIds(api)).toEqual([]);
      if (listener.remarks().includes('1 of 2 successes.')) return;
      expect(listener.remarks()).toContain('0 of 2 successes.');
    }
    throw new Error('It has forwarded nothing within a minute.');
  });

  it('says that its webhook was deleted, and exits with 1', async () => {
    const { api, listen } = await newUser();
    const listener = listen(receiver.hook().url);
    const id = await listener.webhookId();
    await dataOf(api.deleteWebhook(id));
    expect(await listener.ended()).toBe(1);
    expect(listener.remarks()).toContain(`The webhook ${id} was deleted`);
  });

  it('prints what comes from outside on one line, without control characters', async () => {
    const { api, listen } = await newUser();
    const listener = listen(receiver.hook().url, ['--print', '--exit-after', '1']);
    await listener.webhookId();
    await dataOf(api.publish({ event: 'a.b', data: { text: 'a\u009b31m\u202e\u2028\u007f\u001b' } }), 202);
    expect(await listener.ended()).toBe(0);
    expect(listener.lines()).not.toMatch(UNPRINTABLE);
    expect(listener.lines().split('\n')).toHaveLength(3);
    expect(listener.lines()).toContain('"text":"a\\u{9b}31m\\u{202e}\\u{2028}\\u{7f}\\u001b"');
  });

  it('shows a generated secret on a terminal, and nowhere else', async () => {
    const { api, env, run: toTheEnd } = await newUser();
    const options = ['--to', receiver.hook().url, '--exit-after', '1'];
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await withEvents(api, toTheEnd('listen', ...options, ...more));
      expect(stdout + stderr).not.toContain('whsec_');
      expect(stderr).toContain('WEBHOOK_SECRET');
    }
    const command = [process.execPath, LIBRARY_COMMAND, 'listen', ...options, '--service', service.url];
    const onTerminal = (environment: NodeJS.ProcessEnv, ...more: string[]) =>
      withEvents(
        api,
        new Promise<string>((resolve) => {
          const args = ['-qec', [...command, ...more].map((word) => `'${word}'`).join(' '), '/dev/null'];
          execFile('script', args, { env: { ...process.env, ...environment } }, (_, stdout) => resolve(stdout));
        }),
      );
    expect(await onTerminal(env)).toMatch(/The secret is whsec_[A-Za-z0-9+/]{43}=/);
    expect(await onTerminal(env, '--json')).not.toContain('whsec_');
    const chosen = await onTerminal({ ...env, WEBHOOK_SECRET: 'my own secret' });
    expect(chosen).toContain('Forwarding');
    expect(chosen).not.toContain('my own secret');
    expect(await webhookIds(api)).toEqual([]);
  });

  it.each<[string, string[], RegExp, number]>([
    ['a missing url', [], /--to is missing/, 2],
    ['another protocol', ['--to', 'ftp://localhost'], /http: or https:/, 2],
    ['a password', ['--to', 'http://a:b@localhost'], /password/, 2],
    ['a webhook without --yes', ['--to', 'http://localhost', '--webhook', 'a'], /--yes/, 2],
    ['no count', ['--to', 'http://localhost', '--exit-after', '0'], /--exit-after must be a whole number/, 2],
    ['no seconds', ['--to', 'http://localhost', '--timeout', 'soon'], /--timeout must be a whole number/, 2],
    ['an unknown event', ['--to', 'http://localhost', '--events', 'no.such'], /no\.such/, 1],
    ['a service elsewhere', ['--to', 'http://localhost', '--service', 'http://hooks.example'], /clear text/, 2],
  ])('refuses %s', async (_, args, message, code) => {
    const { api, env } = await newUser();
    const refused = await run(['listen', '--service', service.url, ...args], env);
    expect(refused).toEqual({ code, stdout: '', stderr: expect.stringMatching(message) as string });
    expect(await webhookIds(api)).toEqual([]);
  });

  it('names the scopes that the token lacks, and makes no webhook', async () => {
    const { run: toTheEnd, api } = await newUser(['webhooks:read', 'webhooks:write']);
    expect(await toTheEnd('listen', '--to', 'http://localhost:4000')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The token lacks messages:pull: listen needs the scopes webhooks:write and messages:pull.\n',
    });
    expect(await webhookIds(api)).toEqual([]);
  });

  it('leases only from pull webhooks of the same user', async () => {
    const [{ run: toTheEnd, api }, other] = [await newUser(), await newUser()];
    const foreign = await pull(other.api);
    const pushed = await dataOf(api.createWebhook({ url: receiver.hook().url, events: ['*'] }), 201);
    for (const { id } of [foreign, pushed]) {
      const refused = await toTheEnd('listen', '--to', 'http://localhost:4000', '--webhook', id, '--yes');
      expect(refused.code).toBe(1);
    }
    expect(await webhookIds(api)).toEqual([pushed.id]);
    expect(await errorOf(api.readWebhook(foreign.id), 404)).toBeTruthy();
  });
});

describe('webhook-notification listen, while its service restarts', () => {
  const receiver = useReceiver();
  let service: Service | undefined;
  afterEach(() => service?.kill());

  it('waits, says once that it is away and once that it is back, and keeps its webhook', async () => {
    const database = await cloneDatabase();
    const settings = { PORT: String(await freePort()), SECRETS_KEY: randomBytes(32).toString('base64') };
    try {
      service = await startService(settings, database);
      const token = await service.createToken('alice', SCOPES);
      const hook: Hook = receiver.hook();
      const options = ['--to', hook.url, '--service', service.url, '--exit-after', '1'];
      const listener = startListener(options, { WEBHOOKS_TOKEN: token });
      const id = await listener.webhookId();
      expect(await service.stop()).toBe(0);
      await waitFor(() => listener.remarks().includes('unavailable'), { what: 'the outage' });
      service = await startService(settings, database);
      await waitFor(() => listener.remarks().includes('available again'), { what: 'the end of the outage' });
      const api = service.api.withToken(token);
      expect(await webhookIds(api)).toEqual([id]);
      await publish(api, 'follower.gained');
      expect(await listener.ended()).toBe(0);
      expect(listener.remarks().match(/available/g)).toHaveLength(2);
      expect(await webhookIds(api)).toEqual([]);
    } finally {
      await service?.kill();
      service = undefined;
      await database.drop();
    }
  });
});
