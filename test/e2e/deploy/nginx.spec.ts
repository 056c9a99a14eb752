import { randomBytes } from 'node:crypto';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { makeAuthority } from '../../support/hostile-certificates';
import { type Nginx, startNginx } from '../../support/nginx';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { startProxy, type TcpProxy } from '../../support/proxy';
import { useReceiver } from '../../support/receiver';
import { type Service, startService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { describeWhereInstalled } from '../../support/programs';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

const HOST = '127.0.0.1';
const authority = makeAuthority('an authority of browsers');
const EVENT = JSON.stringify({ event: 'job.started', data: EXAMPLES['job.started'] });

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}
interface Sent {
  method?: string;
  token?: string;
  body?: string;
  headers?: Record<string, string>;
  /** The address of the client. */
  from?: string;
  agent?: Agent;
}

describeWhereInstalled('nginx', 'Behind nginx', () => {
  let database: TestDatabase;
  let network: TcpProxy;
  let services: [Service, Service];
  let nginx: Nginx;
  let token: string;
  const receiver = useReceiver();
  beforeAll(async () => {
    database = await cloneDatabase();
    network = await startProxy(Number(new URL(database.url).port));
    const url = Object.assign(new URL(database.url), { port: network.port }).href;
    const settings = { SECRETS_KEY: randomBytes(32).toString('base64'), TRUSTED_PROXIES: '127.0.0.1/32' };
    const limits = { AUTH_FAILURES_PER_MINUTE: '4', RATE_LIMIT_PER_MINUTE: '2000', PUBLISH_LIMIT_PER_MINUTE: '9000' };
    const start = (ROLE: string) => startService({ ...settings, ...limits, ROLE, DATABASE_URL: url }, database);
    services = [await start('api'), await start('all')];
    token = await services[0].createToken('alice', [
      'webhooks:read',
      'webhooks:write',
      'deliveries:read',
      'events:publish',
    ]);
    const ports = services.map((service) => new URL(service.url).port);
    nginx = await startNginx([ports[0]!, ports[1]!], authority.issue(HOST));
  });
  afterAll(async () => {
    await nginx?.stop();
    for (const service of services ?? []) await service.kill();
    await network?.stop();
    await database?.drop();
  });

  function send(path: string, { method = 'GET', body, from = HOST, agent, ...more }: Sent = {}): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${more.token ?? token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...more.headers,
    };
    return new Promise((resolve, reject) => {
      const options = { host: HOST, port: nginx.port, path, method, headers, ca: authority.cert, localAddress: from };
      const sent = request({ ...options, agent: agent ?? new Agent() }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer
          .on('error', reject)
          .on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      });
      sent.on('error', reject).end(body);
    });
  }

  it('failed authentications count for the address of the client, whatever it claims', async () => {
    const fail = (from: string, claimed?: string) =>
      send('/api/me', { token: 'no', from, headers: claimed ? { 'x-forwarded-for': claimed } : {} });
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) statuses.push((await fail('127.0.0.2', `198.51.100.${i}`)).status);
    expect(statuses.slice(0, 4)).toEqual([401, 401, 401, 401]);
    const limited = await fail('127.0.0.2');
    expect(limited).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
    expect(JSON.parse(limited.text)).toMatchObject({
      code: 'rate_limited',
      requestId: limited.headers['x-request-id'],
    });
    expect((await fail('127.0.0.3')).status).toBe(401);
  });

  it('a poll waits for a change', async () => {
    const { api } = services[1];
    const webhook = await subscribe(api.withToken(token), receiver.hook(), ['job.started']);
    const first = await send('/api/deliveries?changedAfter=now');
    const { nextCursor } = JSON.parse(first.text) as { nextCursor: string };
    const poll = send(`/api/deliveries?changedAfter=${nextCursor}&waitSeconds=20`);
    const event = await publish(api.withToken(token), 'job.started');
    await settledDeliveries(api.withToken(token), webhook, event);
    const { status, text } = await poll;
    expect(status).toBe(200);
    expect(text).toContain(event.id);
  });

  it.each(['/console/', '/api/me', '/health/ready'])('the headers of %s are those of the service', async (path) => {
    const [through, direct] = [
      await send(path),
      await fetch(`${services[0].url}${path}`, { headers: { authorization: `Bearer ${token}` }, redirect: 'manual' }),
    ];
    const hops = [
      'date',
      'connection',
      'keep-alive',
      'x-request-id',
      'server',
      'ratelimit',
      'strict-transport-security',
    ];
    const own = (headers: [string, unknown][]) => headers.filter(([name]) => !hops.includes(name)).sort();
    expect(through.status).toBe(direct.status);
    expect(own(Object.entries(through.headers))).toEqual(own([...direct.headers]));
    expect(through.text).toBe(path === '/health/ready' ? through.text : await direct.text());
    expect(through.headers['strict-transport-security']).toBe('max-age=31536000');
    expect(through.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  it('speaks HTTP/2', async () => {
    const socket = connectTls({ host: HOST, port: nginx.port, ca: authority.cert, ALPNProtocols: ['h2'] });
    const session = connectHttp2(`https://${HOST}`, { createConnection: () => socket });
    const stream = session.request({ ':path': '/api/me', authorization: `Bearer ${token}` });
    const headers = await new Promise<Record<string, unknown>>((resolve, reject) =>
      stream.on('response', resolve).on('error', reject),
    );
    session.destroy();
    expect(headers[':status']).toBe(200);
  });

  it('a body that is too large gets the message of the service', async () => {
    const body = JSON.stringify({ event: 'job.started', data: { text: 'x'.repeat(16_800_000) } });
    const { status, text } = await send('/api/events', { method: 'POST', body });
    expect(status).toBe(413);
    expect(JSON.parse(text)).toMatchObject({ code: 'body_too_large' });
  });

  it('a 503 has its envelope, and the next request its answer when PostgreSQL is back', async () => {
    await network.cut();
    const unavailable = await send('/api/webhooks');
    expect(unavailable.status).toBe(503);
    expect(JSON.parse(unavailable.text)).toMatchObject({ requestId: unavailable.headers['x-request-id'] });
    await network.pass();
    await waitFor(async () => (await send('/api/webhooks')).status === 200, { what: 'PostgreSQL' });
  });

  it('no request is lost when one of the two processes ends', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    let isOver = false;
    const answers: number[] = [];
    const client = async (i: number) => {
      while (!isOver) {
        const { status } = await (i % 2
          ? send('/api/me', { agent })
          : send('/api/events', { method: 'POST', body: EVENT, agent }));
        answers.push(status);
      }
    };
    const clients = [...new Array(8).keys()].map(client);
    const until = (count: number) => waitFor(() => answers.length > count, { what: 'answers' });
    await until(100);
    const ended = services[0].stop();
    expect(await ended).toBe(0);
    await until(answers.length + 100);
    isOver = true;
    await Promise.all(clients);
    agent.destroy();
    expect(new Set(answers)).toEqual(new Set([200, 202]));
    const [{ count } = { count: 0 }] = await database.query<{ count: number }>(
      'select count(*)::int as count from webhook_service.events',
    );
    expect(count).toBe(answers.filter((status) => status === 202).length + 1);
  });
});
