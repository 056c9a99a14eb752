import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api, dataOf, errorOf, exchange, pageOf, type TriedRequest } from '../../support/api';
import { freePort, runCommand, serviceFile, useService } from '../../support/service';
import { verifyStandardWebhook } from '../../support/signatures';
import { waitFor } from '../../support/wait-for';
import { publish, settledDeliveries } from '../stage/steps';

const CODE = /\/console#code=([A-Za-z0-9_-]{43})/;
/** Half the deadline of the attempt that a silent receiver keeps waiting. */
const STOPS_WITHIN_MS = 30_000;

describe('On the machine of who tries it', () => {
  let folder: string;
  let url: string;
  let printed = '';
  let api: Api;
  let child: ReturnType<typeof spawn>;
  let environment: Record<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'local-'));
    const port = String(await freePort());
    url = `http://127.0.0.1:${port}`;
    environment = {
      ...{ PATH: process.env.PATH ?? '', DATA_DIR: join(folder, 'data'), PORT: port, LOG_LEVEL: 'silent' },
      ...{ RETRY_BASE_DELAY_MS: '10', RETRY_FACTOR: '1', MAX_RETRIES: '2', DELIVERY_TIMEOUT_MS: '60000' },
    };
    await start();
    api = new Api(url, /wns_[A-Za-z0-9_-]{43}/.exec(printed)?.[0] ?? null);
  });
  afterAll(async () => {
    if (child.exitCode === null) {
      // PostgreSQL, its own process, ends with it.
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });

  async function start(settings: Record<string, string> = {}): Promise<void> {
    printed = '';
    child = spawn(process.execPath, [serviceFile('src/main.js')], {
      env: { ...environment, ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (printed += text));
    await waitFor(() => CODE.test(printed), { what: 'the welcome' });
  }

  const requestsOf = async (id: string): Promise<TriedRequest[]> => (await dataOf(api.readTryReceiver(id))).requests;

  it('the start prints a link that signs the first user in, once, with all scopes but users:erase', async () => {
    const code = CODE.exec(printed)?.[1];
    expect(printed).toContain(`Console ${url}/console#code=${code}`);
    const session = await dataOf(api.withToken(null).beginSession({ code }), 201);
    const { userId, scopes } = await dataOf(api.me());
    expect(session).toMatchObject({ userId, scopes: scopes.filter((scope) => scope !== 'users:erase') });
    await errorOf(api.withToken(null).beginSession({ code }), 401);
    expect(await dataOf(api.about())).toMatchObject({ console: true, tryReceiver: true });
  });

  it('a link can be made by hand', async () => {
    const { stdout, exitCode } = await runCommand(
      ['console-link', '--user', 'alice', '--path', '/console/live'],
      environment,
    );
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^\/console\/live#code=[A-Za-z0-9_-]{43}\n$/)]);
    const code = stdout.trim().split('#code=')[1];
    expect(await dataOf(api.withToken(null).beginSession({ code }), 201)).toMatchObject({ userId: 'alice' });
    const bad = await runCommand(['console-link', '--user', 'alice', '--path', '//evil.example'], environment);
    expect([bad.exitCode, bad.stderr]).toEqual([2, expect.stringMatching(/--path/)]);
  });

  it('a delivery can be tried: received, failed, gone, and met with silence', async () => {
    const receiver = await dataOf(api.createTryReceiver(), 201);
    expect(receiver).toMatchObject({ url: `${url}/try/${receiver.id}`, answer: 200 });
    expect((Date.parse(receiver.expiresAt) - Date.now()) / 60_000).toBeGreaterThan(59);
    expect(await dataOf(api.createTryReceiver(), 200)).toEqual(receiver);
    const webhook = await dataOf(api.createWebhook({ url: receiver.url, events: ['job.started'] }), 201);
    const { userId } = await dataOf(api.me());
    const first = await publish(api, 'job.started', { userId });
    expect(await settledDeliveries(api, webhook, first)).toMatchObject([{ status: 'succeeded', responseStatus: 200 }]);
    const [request] = await requestsOf(receiver.id);
    const { headers, body } = request!;
    expect(JSON.parse(body)).toMatchObject({ id: first.id, event: 'job.started' });
    verifyStandardWebhook({ body: Buffer.from(body), headers }, webhook.secret);

    expect(await dataOf(api.updateTryReceiver(receiver.id, { answer: 500 }))).toMatchObject({ answer: 500 });
    const second = await publish(api, 'job.started', { userId });
    expect(await settledDeliveries(api, webhook, second)).toHaveLength(3);
    expect((await requestsOf(receiver.id)).map(({ answer }) => answer)).toEqual([500, 500, 500, 200]);
    expect(await errorOf(api.updateTryReceiver(receiver.id, { answer: 301 }), 400)).toMatch(/answer must be/);
    await dataOf(api.updateTryReceiver(receiver.id, { answer: 410 }));
    await settledDeliveries(api, webhook, await publish(api, 'job.started', { userId }));
    const isGone = async () => (await dataOf(api.readWebhook(webhook.id))).disabledReason === 'gone';
    await waitFor(isGone, { what: 'the webhook to be disabled' });

    const stranger = api.withToken(
      (await dataOf(api.createToken({ name: 'x', userId: 'bob', scopes: ['webhooks:write'] }), 201)).token,
    );
    await errorOf(stranger.readTryReceiver(receiver.id), 404);
    await errorOf(stranger.updateTryReceiver(receiver.id, { answer: 200 }), 404);
  });

  it('has test receivers for 20 users', async () => {
    const replies = [];
    for (let i = 0; i < 21; i++) {
      const wanted = { name: 'x', userId: `user-${i}`, scopes: ['webhooks:write'] };
      const { token } = await dataOf(api.createToken(wanted), 201);
      replies.push(await api.withToken(token).createTryReceiver());
    }
    expect(replies.map(({ status }) => status)).toEqual(expect.arrayContaining([201, 409]));
    expect(replies.at(-1)).toMatchObject({ code: 'test_receiver_limit_reached' });
  });

  it('a receiver takes POSTs of any type and length, keeps 20 of them and 64 KiB of each, and nothing else', async () => {
    const { id } = await dataOf(api.createTryReceiver());
    await dataOf(api.updateTryReceiver(id, { answer: 200 }));
    const post = (rawBody: string, type: string) =>
      exchange(url, 'POST', `/try/${id}`, { rawBody, headers: { 'content-type': type } });
    const answer = await post('<script>', 'text/html');
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers).toMatchObject({
      ...{ 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
      'content-security-policy': "default-src 'none'; sandbox",
    });
    expect((await post('x'.repeat(1_000_000), 'application/octet-stream')).status).toBe(200);
    const [long, script] = await requestsOf(id);
    expect([long!.body.length, long!.bodyTruncated]).toEqual([65_536, true]);
    expect([script!.body, script!.bodyTruncated]).toEqual(['<script>', false]);
    for (let i = 0; i < 20; i++) await post(String(i), 'text/plain');
    expect((await requestsOf(id)).map(({ body }) => body)).toEqual(
      Array.from({ length: 20 }, (_, i) => String(19 - i)),
    );
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
      expect((await exchange(url, method, `/try/${id}`)).status).toBe(404);
    }
    for (const path of ['/try/unknown', '/try/', '/try', `/try/${id}/x`]) {
      expect((await exchange(url, 'POST', path, { rawBody: '' })).status).toBe(404);
    }
  });

  it('a receiver shows control characters as U+FFFD, so its answer has at most 4.5 MB', async () => {
    const { id } = await dataOf(api.createTryReceiver());
    const post = (rawBody: string | Buffer) => exchange(url, 'POST', `/try/${id}`, { rawBody });
    await post('{"a":"\u0085\u007f\ufeff"}\r\n\t\u0000\u0008\u000c\u001f.');
    expect((await requestsOf(id))[0]!.body).toBe('{"a":"\u0085\u007f\ufeff"}\r\n\t\ufffd\ufffd\ufffd\ufffd.');
    for (const worst of [Buffer.alloc(65_536), Buffer.alloc(65_536, 0xff), Buffer.alloc(65_536, '"')]) {
      for (let i = 0; i < 20; i++) await post(worst);
      const receiver = await dataOf(api.readTryReceiver(id));
      expect(receiver.requests.map(({ body }) => body.length)).toEqual(Array(20).fill(65_536));
      expect(Buffer.byteLength(JSON.stringify(receiver))).toBeLessThan(4_500_000);
    }
  });

  it('the service stops at once although a receiver is silent', async () => {
    const { id, url: there } = await dataOf(api.createTryReceiver());
    await dataOf(api.updateTryReceiver(id, { answer: 'silent' }));
    await dataOf(api.createWebhook({ url: there, events: ['job.started'] }), 201);
    const { userId } = await dataOf(api.me());
    const before = (await requestsOf(id)).filter(({ answer }) => answer === 'silent').length;
    await publish(api, 'job.started', { userId });
    const isMet = async () => (await requestsOf(id)).filter(({ answer }) => answer === 'silent').length > before;
    await waitFor(isMet, { what: 'a delivery that is met with silence' });
    const began = Date.now();
    child.kill('SIGTERM');
    const [exitCode] = (await once(child, 'exit')) as [number | null];
    expect(exitCode).toBe(0);
    // eslint-disable-next-line no-restricted-syntax -- less than the deadline of the attempt that it ends
    expect(Date.now() - began).toBeLessThan(STOPS_WITHIN_MS);
  });

  it('the next start disables webhooks of receivers that it does not know, and no others', async () => {
    await start();
    const { url: there } = await dataOf(api.createTryReceiver(), 201);
    const create = (to: string) => dataOf(api.createWebhook({ url: to, events: ['job.started'] }), 201);
    const [trying, elsewhere] = [await create(there), await create(`${url}/try/elsewhere`)];
    child.kill('SIGTERM');
    await once(child, 'exit');
    await start();
    expect(await dataOf(api.readWebhook(trying.id))).toMatchObject({ active: false, disabledReason: 'receiver_gone' });
    expect(await dataOf(api.readWebhook(elsewhere.id))).toMatchObject({ active: true, disabledReason: null });
    expect((await pageOf(api.listWebhooks({ active: 'true' }))).rows).toHaveLength(1);
  });

  it('LOCAL has the same in a container, which clients reach by another address than loopback', async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
    await start({ HOST: '0.0.0.0', LOCAL: 'true' });
    expect(printed).toContain(url.replace('127.0.0.1', 'localhost') + '/console#code=');
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4');
    const wanted = { name: 'x', scopes: ['webhooks:read', 'webhooks:write'] };
    const { token } = await dataOf(api.createToken(wanted), 201);
    const client = new Api(url.replace('127.0.0.1', outside?.address ?? '127.0.0.2'), token);
    const receiver = await dataOf(client.createTryReceiver(), 201);
    expect(receiver.url).toBe(`${url}/try/${receiver.id}`);
    const webhook = await dataOf(client.createWebhook({ url: receiver.url, events: ['job.started'] }), 201);
    expect((await dataOf(client.testWebhook(webhook.id))).status).toBe('succeeded');
  });
});

describe('Elsewhere', () => {
  const service = useService({ CONSOLE: 'false' });

  it('there are no receivers to try with, and no console where it is switched off', async () => {
    expect(await errorOf(service.api.createTryReceiver(), 404)).toMatch(/embedded/);
    await errorOf(service.api.readTryReceiver('x'), 404);
    expect((await exchange(service.url, 'POST', '/try/x', { rawBody: '' })).status).toBe(404);
    expect((await exchange(service.url, 'GET', '/')).status).toBe(404);
    expect((await exchange(service.url, 'GET', '/console')).status).toBe(404);
    expect(await dataOf(service.api.about())).toMatchObject({ console: false, tryReceiver: false });
  });
});
