import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as send, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, allPagesOf, dataOf } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { runCommandLine } from '../stage/library-command';
import { type FakeEndpoint, json, SVIX_TOKEN, useSvixServer } from '../stage/svix-server';

const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`;

describe('webhook-notification import svix, with refusals and failures', () => {
  const service = useService({ EXTRA_EVENT_TYPES: 'invoice.paid', MAX_WEBHOOKS_PER_USER: '5' });
  const receiver = useReceiver();
  const svix = useSvixServer();
  let token: string;
  let api: Api;
  let folder: string;
  let users = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'import-svix-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  beforeEach(async () => {
    token = await service.createToken(`user-${(users += 1)}`, ['webhooks:read', 'webhooks:write']);
    api = service.api.withToken(token);
  });

  function endpoint(id: string, more: Partial<FakeEndpoint> = {}): FakeEndpoint {
    const made = { id, url: `https://${id.replaceAll('_', '-')}.example/hooks`, secret: newSecret(), ...more };
    svix.endpoints.set(id, made);
    return made;
  }

  /** Runs the command. In no case it prints a secret, or what a terminal would obey. */
  async function run(args: readonly string[] = [], variables: Record<string, string> = {}, to = service.url) {
    const line = ['import', 'svix', '--app', 'app_1', '--svix', svix.url, '--service', to, ...args];
    const finished = await runCommandLine(line, { SVIX_TOKEN, WEBHOOKS_TOKEN: token, ...variables });
    const printed = finished.stdout + finished.stderr;
    for (const each of [SVIX_TOKEN, token, ...[...svix.endpoints.values()].map(({ secret }) => secret)])
      expect(printed).not.toContain(each);
    expect(printed).not.toMatch(UNPRINTABLE);
    return finished;
  }

  const externalIds = async () =>
    (await allPagesOf(api.listWebhooks, { limit: 250 }))
      .flat()
      .map(({ externalId }) => externalId)
      .sort();
  const imported = (id: string) => dataOf(api.readExternalWebhook(`svix:app_1:${id}`));

  /** A server on a free port for one test. */
  async function withServer<T>(listener: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  it('reports each webhook that the service refuses with the reason, and imports the others', async () => {
    endpoint('ep_a');
    endpoint('ep_b', { url: 'http://169.254.169.254/latest/meta-data?key=hidden-key' });
    endpoint('ep_c', { url: 'ftp://files.example' });
    endpoint('ep_d', { url: 'https://user:hidden-key@d.example' });
    endpoint('ep_e', { headers: { 'x-forwarded-for': 'hidden-key' } });
    endpoint('ep_f', { secret: 'whpk_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' });
    endpoint('ep_\u001b[31m\u202e');
    endpoint('ep_z');
    const { code, stdout, stderr } = await run(['--yes']);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^refused {2}svix:app_1:ep_b {2}http:\/\/169\.254\.169\.254 {2}url must not point to/m);
    expect(stdout).toMatch(/^refused {2}svix:app_1:ep_c .* Enter a full URL/m);
    expect(stdout).toMatch(/^refused {2}svix:app_1:ep_d {2}https:\/\/d\.example {2}url must not contain a user name/m);
    expect(stdout).toMatch(/^refused {2}svix:app_1:ep_e .*is set by the service/m);
    expect(stdout).toMatch(/^refused {2}svix:app_1:ep_f .*secret/m);
    expect(stdout).toContain('refused  svix:app_1:ep_\\u{1b}[31m\\u{202e}  its id');
    expect(stdout).toMatch(/^created 2, refused 6\.$/m);
    expect(stdout).not.toContain('hidden-key');
    expect(await externalIds()).toEqual(['svix:app_1:ep_a', 'svix:app_1:ep_z']);
  });

  it('names event types that are not declared, also without --yes, and renames or drops them with --map', async () => {
    endpoint('ep_1', { filterTypes: ['invoice.paid', 'invoice.voided', 'invoice-sent', 'legacy'] });
    endpoint('ep_2', { filterTypes: ['invoice.voided'] });
    const dry = await run();
    expect(dry.code).toBe(1);
    expect(dry.stdout).toContain('unknown event types: invoice-sent, invoice.voided, legacy\n');
    expect(dry.stdout).toContain(
      'invoice.voided is not declared: POST /api/event-types, or rename it with --map (2 webhooks)',
    );
    expect(dry.stdout).toMatch(/invoice-sent is not declared: .* rename it with --map \(1 webhooks\)/);

    const file = join(folder, 'names.json');
    await writeFile(file, '{"invoice.voided": "job.*", "invoice-sent": "invoice.paid", "legacy": null}');
    expect(await run(['--map', file, '--yes'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('created 2.'),
    });
    expect((await imported('ep_1')).events).toEqual(['invoice.paid', 'job.*']);
    expect((await imported('ep_2')).events).toEqual(['job.*']);
  });

  it('leaves webhooks inactive that are disabled, or have a property without a counterpart, until a person acts', async () => {
    const sensitive = ['authorization'];
    endpoint('ep_channels', { channels: ['project_1'] });
    endpoint('ep_transformed', { transformation: { code: 'function handler(w) { return w }', enabled: true } });
    endpoint('ep_hidden', { sensitive, headers: { 'x-a': 'value' } });
    endpoint('ep_disabled', { disabled: true });
    endpoint('ep_plain', { transformation: { code: 'function handler(w) { return w }', enabled: false } });
    const first = await run(['--activate', '--yes']);
    expect(first.code).toBe(1);
    for (const reason of [
      /channels project_1 only/,
      /transformations have no/,
      /header authorization is hidden/,
      /disabled there/,
    ])
      expect(first.stdout).toMatch(new RegExp(`^ {2}stays inactive: .*${reason.source}`, 'm'));
    const active = async () =>
      (await allPagesOf(api.listWebhooks, { active: true }))
        .flat()
        .map(({ externalId }) => externalId)
        .sort();
    expect(await active()).toEqual(['svix:app_1:ep_plain']);

    const { id } = await imported('ep_hidden');
    await dataOf(api.updateWebhook(id, { headers: { Authorization: 'Bearer k-4f2a91' } }));
    const second = await run(['--activate', '--yes']);
    expect([second.code, second.stdout]).toEqual([1, expect.stringMatching(/^activated 1, unchanged 3, kept 1\.$/m)]);
    expect(await active()).toEqual(['svix:app_1:ep_hidden', 'svix:app_1:ep_plain']);
    expect((await imported('ep_hidden')).headers).toEqual({ 'x-a': '•••', Authorization: '•••' });
  });

  it('reports endpoints that are gone at Svix, and deletes nothing', async () => {
    endpoint('ep_1');
    endpoint('ep_2');
    await run(['--yes']);
    svix.endpoints.delete('ep_1');
    expect(await run(['--activate', '--yes'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'gone  svix:app_1:ep_1  is no longer there, and stays here: DELETE /api/webhooks/external/svix:app_1:ep_1',
      ),
    });
    expect(await imported('ep_1')).toMatchObject({ active: false });
    // Gone between the list and its secret.
    svix.fault = (request, response) =>
      request.url!.endsWith('/ep_2/secret') && json(response, 404, { code: 'not_found', detail: '' });
    expect(await run(['--yes'])).toMatchObject({ code: 0, stdout: expect.stringContaining('was deleted meanwhile') });
  });

  it('stops at the limit of webhooks with a sentence, and goes on when there is room', async () => {
    for (let i = 0; i < 7; i += 1) endpoint(`ep_${i}`);
    expect(await run()).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^would create 7\.\nThe user may have only 5 more webhooks\. Raise MAX_WEBHOOKS/m),
    });
    const { code, stdout, stderr } = await run(['--yes']);
    expect([code, stdout.match(/^created /gm)?.length]).toEqual([1, 5]);
    expect(stderr).toMatch(/5 webhooks.*\nThe import stops here\. Raise MAX_WEBHOOKS_PER_USER/);
    const first = await externalIds();
    for (const id of ['ep_0', 'ep_1']) svix.endpoints.delete(id);
    for (const externalId of first.slice(0, 2)) await dataOf(api.deleteExternalWebhook(externalId!));
    for (const { id } of [...svix.endpoints.values()])
      if (first.slice(0, 2).includes(`svix:app_1:${id}`)) svix.endpoints.delete(id);
    expect(await run(['--yes'])).toMatchObject({ code: 0 });
    expect(await externalIds()).toHaveLength(svix.endpoints.size);
  });

  it('waits when the service, or Svix, limits its rate', async () => {
    for (let i = 0; i < 5; i += 1) endpoint(`ep_${i}`);
    let limited = 0;
    const isLimited = () => (limited += 1) % 2 === 1;
    svix.fault = (_, response) =>
      isLimited() && json(response, 429, { code: 'x', detail: 'x' }, { 'retry-after': '0' });
    expect(await run([])).toMatchObject({ code: 0 });
    limited = 0;
    svix.fault = null;
    const limiting: RequestListener = (request, response) => {
      if (isLimited())
        return void json(response, 429, { success: false, error: 'Too many requests.' }, { 'retry-after': '0' });
      const { method, url = '', headers } = request;
      const forwarded = send(service.url + url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forwarded);
    };
    await withServer(limiting, async (url) => {
      expect(await run(['--yes'], {}, url)).toMatchObject({ code: 0, stdout: expect.stringContaining('created 5.') });
    });
    expect(limited).toBeGreaterThan(10);
  });

  it.each<[string, number, object, RegExp]>([
    ['refuses the token', 401, { code: 'x' }, /answered GET .* with 401: it does not accept SVIX_TOKEN/],
    ['has no such application', 404, { code: 'x' }, /no application app_1/],
    ['fails', 500, { code: 'x' }, /with 500\./],
    ['answers something else', 200, { hello: 'world' }, /something else than an application/],
  ])('says so when Svix %s, and imports nothing', async (_, status, body, message) => {
    endpoint('ep_1');
    svix.fault = (__, response) => json(response, status, body);
    expect(await run(['--yes'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
    expect(await externalIds()).toEqual([]);
  });

  it('tries again after an error, and says so when Svix is slow, or does not answer with JSON', async () => {
    endpoint('ep_1');
    let failures = 2;
    svix.fault = (_, response) => (failures -= 1) >= 0 && json(response, 503, {});
    expect(await run([])).toMatchObject({ code: 0, stderr: '' });
    svix.fault = (_, response) => !!response.writeHead(200).end('{"id": "app_1"');
    expect(await run([])).toMatchObject({ code: 1, stderr: expect.stringContaining('something else than JSON') });
    // The beginning of an answer comes, and its end never.
    svix.fault = (_, response) => response.writeHead(200).write('{"id":');
    expect(await run(['--timeout', '1'])).toMatchObject({ code: 1, stderr: expect.stringContaining('within 1000 ms') });
  });

  it('does not follow a list without an end', async () => {
    endpoint('ep_1');
    svix.fault = (request, response) =>
      request.url!.includes('endpoint?') &&
      json(response, 200, {
        data: [{ id: 'ep_1', url: 'https://a.example' }],
        iterator: String(svix.requests.length),
        done: false,
      });
    expect(await run(['--yes'])).toMatchObject({ code: 1, stderr: expect.stringContaining('does not end') });
  });

  it('sends its tokens to no other origin: neither by a redirect nor by an iterator that looks like an address', async () => {
    const foreign = receiver.hook();
    endpoint('ep_1');
    svix.fault = (request, response) =>
      request.url!.endsWith('/secret') && !!response.writeHead(307, { location: foreign.url }).end();
    expect(await run(['--yes'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('redirects are not followed'),
    });
    let lists = 0;
    svix.fault = (request, response) =>
      request.url!.includes('endpoint?') &&
      json(response, 200, {
        data: (lists += 1) > 1 ? [] : [{ id: 'ep_1', url: 'https://a.example' }],
        iterator: foreign.url,
        done: lists > 1,
      });
    expect(await run(['--yes'])).toMatchObject({ code: 0 });
    await withServer(
      (_, response) => response.writeHead(308, { location: foreign.url }).end(),
      async (url) => {
        expect(await run(['--yes'], {}, url)).toMatchObject({ code: 1, stderr: expect.stringContaining('redirects') });
      },
    );
    expect(foreign.calls).toEqual([]);
  });

  it('hides secrets that a server repeats in its error', async () => {
    endpoint('ep_1', { headers: { 'x-a': 'value-of-a-header' } });
    const repeating: RequestListener = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.method === 'GET')
          return void json(response, 200, {
            success: true,
            data: [],
            ...(request.url!.includes('?') && { nextCursor: null }),
          });
        const error = `${request.headers.authorization} ${Buffer.concat(chunks).toString()}`;
        json(response, 400, { success: false, error, code: 'validation_failed', details: [] });
      });
    };
    await withServer(repeating, async (url) => {
      const { code, stdout } = await run(['--yes'], {}, url);
      expect([code, stdout]).toEqual([1, expect.stringContaining('"secret":"•••"')]);
      expect(stdout).not.toContain('value-of-a-header');
    });
  });

  it.each<[string, string[], Record<string, string>, RegExp]>([
    ['no application', ['--app', ''], {}, /--app is missing/],
    ['no token of Svix', [], { SVIX_TOKEN: '' }, /SVIX_TOKEN is missing/],
    ['no token of the service', [], { WEBHOOKS_TOKEN: '' }, /WEBHOOKS_TOKEN is missing/],
    ['Svix in clear text', ['--svix', 'http://svix.example'], {}, /clear text/],
    ['the service in clear text', ['--service', 'http://hooks.example'], {}, /clear text/],
    ['a server that is none', ['--svix', 'svix.example'], {}, /must be the URL/],
    ['a password in the address', ['--svix', 'https://a:hidden-key@svix.example'], {}, /must be the URL/],
    ['no time', ['--timeout', '0'], {}, /from 1 to 9999/],
  ])('sends no request with %s', async (_, args, variables, message) => {
    const { code, stdout, stderr } = await run(args, variables);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)]);
    expect(stderr).not.toContain('hidden-key');
    expect(svix.requests).toEqual([]);
  });
});
