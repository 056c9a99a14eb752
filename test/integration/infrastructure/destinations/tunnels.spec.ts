import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { parseEgressProxy } from '../../../../src/infrastructure/destinations/egress-proxy';
import { AddressPolicy } from '../../../../src/infrastructure/destinations/address';
import { HttpClient, type HttpClientOptions } from '../../../../src/infrastructure/destinations/http.client';
import { useConnectProxies } from '../../../support/connect-proxy';
import { makeAuthority } from '../../../support/hostile-certificates';
import { useHostileDns } from '../../../support/hostile-dns';
import { type HostileOptions, useHostileReceivers } from '../../../support/hostile-receiver';
import { waitFor } from '../../../support/wait-for';

const authority = makeAuthority('trusted authority');
const stranger = makeAuthority('strange authority');
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const PUBLIC = '203.0.113.7';

const startReceiver = useHostileReceivers();
const startProxy = useConnectProxies();
const startDns = useHostileDns();

const logged: string[] = [];
beforeEach(() => {
  logged.length = 0;
  for (const level of ['warn', 'log'] as const)
    jest
      .spyOn(Logger.prototype, level)
      .mockImplementation((...[message]: unknown[]) => void logged.push(String(message)));
});

const clients: HttpClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.onApplicationShutdown())));

function clientOf(proxyUrl: string, options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = new HttpClient({
    policy: new AddressPolicy(['127.0.0.0/8', '::1/128', '203.0.113.0/24', '2001:db8::/32']),
    dnsServers: [],
    timeoutMs: 10_000,
    requireHttps: false,
    trustedCertificates: [authority.cert],
    proxy: parseEgressProxy(proxyUrl),
    ...options,
  });
  clients.push(client);
  return client;
}

const post = (client: HttpClient, url: string, timeoutMs?: number) =>
  client.post({ url, headers: {}, body: '{}' }, timeoutMs);
const answering = (options: HostileOptions = {}) =>
  startReceiver({ onRequest: (socket) => socket.write(OK), ...options });
const targetsOf = ({ requests }: { requests: readonly { target: string }[] }) => requests.map(({ target }) => target);

describe('A request through a proxy', () => {
  it.each(['http:', 'https:'])('goes through a tunnel to the address of an %s url, and keeps it', async (protocol) => {
    const proxy = await startProxy();
    const receiver = await answering(protocol === 'https:' ? { tls: authority.issue('127.0.0.1') } : {});
    const client = clientOf(proxy.url);
    for (let round = 0; round < 3; round += 1) {
      expect(await post(client, receiver.url)).toMatchObject({ kind: 'response', status: 200, body: 'ok' });
    }
    expect(targetsOf(proxy)).toEqual([`127.0.0.1:${receiver.port}`]);
    expect(proxy.requests[0]?.headers).toEqual({ host: `127.0.0.1:${receiver.port}`, connection: 'keep-alive' });
    expect(receiver.requests).toHaveLength(3);
    expect(receiver.requests[0]).toMatch(/^POST \/hook HTTP\/1\.1\r\nhost: 127\.0\.0\.1/);
    expect(receiver.requests.join()).not.toMatch(/proxy/i);
  });

  it.each(['http', 'https'])('names the default port of %s', async (protocol) => {
    const proxy = await startProxy({ route: () => '127.0.0.1:1' });
    await post(clientOf(proxy.url), `${protocol}://${PUBLIC}/`);
    expect(targetsOf(proxy)).toEqual([`${PUBLIC}:${protocol === 'http' ? 80 : 443}`]);
  });

  it('names the checked address, never the host name, and then the next address', async () => {
    const receiver = await answering({ tls: authority.issue('hooks.example.test') });
    const proxy = await startProxy({
      route: (target) => (target.startsWith(PUBLIC) ? `127.0.0.1:${receiver.port}` : '127.0.0.1:1'),
    });
    const dns = await startDns((_name, type) => (type === 'A' ? ['10.0.0.1', '203.0.113.9', PUBLIC] : ['2001:db8::7']));
    const client = clientOf(proxy.url, { dnsServers: [dns.server] });
    expect(await post(client, 'https://hooks.example.test/')).toMatchObject({ kind: 'response', status: 200 });
    expect(targetsOf(proxy)).toEqual(['203.0.113.9:443', `${PUBLIC}:443`]);
  });

  it('has brackets around an IPv6 address', async () => {
    const receiver = await answering();
    const proxy = await startProxy({ route: () => `127.0.0.1:${receiver.port}` });
    const dns = await startDns((_name, type) => (type === 'A' ? [] : ['2001:db8::7']));
    const client = clientOf(proxy.url, { dnsServers: [dns.server] });
    expect(await post(client, 'http://[2001:db8::1]:8080/')).toMatchObject({ status: 200 });
    expect(await post(client, 'http://six.example.test/')).toMatchObject({ status: 200 });
    expect(targetsOf(proxy)).toEqual(['[2001:db8::1]:8080', '[2001:db8::7]:80']);
  });

  it('goes to an IPv4 receiver by the address of DNS64, and to no other that such an address contains', async () => {
    const receiver = await answering();
    const proxy = await startProxy({ route: () => `127.0.0.1:${receiver.port}` });
    const dns = await startDns((name, type) =>
      type === 'A' ? [] : [name.startsWith('good') ? '64:ff9b::cb00:7107' : '64:ff9b::c0a8:1', '2002:cb00:7107::'],
    );
    const client = clientOf(proxy.url, { dnsServers: [dns.server] });
    expect(await post(client, 'http://good.example.test/')).toMatchObject({ status: 200 });
    expect(await post(client, `http://[64:ff9b::${PUBLIC}]/`)).toMatchObject({ status: 200 });
    const blocked = { code: 'destination_blocked', rule: 'private network' };
    expect(await post(client, 'http://private.example.test/')).toMatchObject(blocked);
    expect(await post(client, 'http://[64:ff9b::192.168.0.1]/')).toMatchObject(blocked);
    expect(targetsOf(proxy)).toEqual(Array.from({ length: 2 }, () => '[64:ff9b::cb00:7107]:80'));
  });

  it('needs no network of the proxy to be allowed, and resolves a name of it as the system does', async () => {
    const proxy = await startProxy({ host: '127.0.0.1', route: () => `127.0.0.1:${receiver.port}` });
    const receiver = await answering();
    const client = clientOf(`http://localhost:${proxy.port}`, { policy: new AddressPolicy(['203.0.113.0/24']) });
    expect(await post(client, `http://${PUBLIC}/`)).toMatchObject({ status: 200 });
  });

  it('is verified against the name in the url, which is the SNI too', async () => {
    const names: unknown[] = [];
    const receiver = await answering({
      tls: {
        ...authority.issue('hooks.example.test'),
        ALPNCallback: ({ servername }) => {
          names.push(servername);
          return 'http/1.1';
        },
      },
    });
    const proxy = await startProxy({ route: () => `127.0.0.1:${receiver.port}` });
    const dns = await startDns((_name, type) => (type === 'A' ? [PUBLIC] : []));
    const client = clientOf(proxy.url, { dnsServers: [dns.server] });
    expect(await post(client, 'https://hooks.example.test./')).toMatchObject({ status: 200 });
    expect(await post(client, 'https://other.example.test/')).toMatchObject({ code: 'tls_invalid', tls: 'wrong_host' });
    expect(await post(client, `https://${PUBLIC}/`)).toMatchObject({ code: 'tls_invalid', tls: 'wrong_host' });
    expect(names).toEqual(['hooks.example.test', 'other.example.test', false]);
    const untrusting = clientOf(proxy.url, { dnsServers: [dns.server], trustedCertificates: undefined });
    expect(await post(untrusting, 'https://hooks.example.test/')).toMatchObject({ code: 'tls_invalid' });
    expect(receiver.requests).toHaveLength(1);
  });

  it('has a tunnel of its own for each origin and each request in flight', async () => {
    const waiting: Socket[] = [];
    const receiver = await startReceiver({ onRequest: (socket) => waiting.push(socket) });
    const proxy = await startProxy({ route: () => `127.0.0.1:${receiver.port}` });
    const dns = await startDns((_name, type) => (type === 'A' ? [PUBLIC] : []));
    const client = clientOf(proxy.url, { dnsServers: [dns.server] });
    const all = ['one', 'two', 'two'].map((name) => post(client, `http://${name}.example.test/`));
    await waitFor(() => waiting.length === 3, { what: 'three requests' });
    for (const socket of waiting) socket.write(OK);
    await Promise.all(all);
    const again = ['one', 'two', 'three'].map((name) => post(client, `http://${name}.example.test/`));
    await waitFor(() => waiting.length === 6, { what: 'six requests' });
    for (const socket of waiting.slice(3)) socket.write(OK);
    expect(await Promise.all(again)).toMatchObject([{ status: 200 }, { status: 200 }, { status: 200 }]);
    expect(targetsOf(proxy)).toEqual([1, 2, 3, 4].map(() => `${PUBLIC}:80`));
  });

  it('gets a new tunnel when the kept one has been closed', async () => {
    const proxy = await startProxy();
    const receiver = await answering();
    const client = clientOf(proxy.url);
    expect(await post(client, receiver.url)).toMatchObject({ status: 200 });
    await proxy.cut();
    expect(await post(client, receiver.url)).toMatchObject({ code: 'proxy_failed' });
    expect(await post(client, receiver.url)).toMatchObject({ code: 'proxy_failed' });
    await proxy.restore();
    expect(await post(client, receiver.url)).toMatchObject({ status: 200 });
    expect(proxy.requests).toHaveLength(2);
    expect(logged).toEqual([
      'The egress proxy failed; requests through it will be retried: ECONNREFUSED',
      'The egress proxy works again.',
    ]);
  });

  it('sends percent-encoded credentials decoded', async () => {
    const proxy = await startProxy();
    const receiver = await answering();
    await post(clientOf(proxy.url.replace('//', '//us%65r:p%40ss%3A%C3%BC%25@')), receiver.url);
    const [, encoded = ''] = proxy.requests[0]?.headers['proxy-authorization']?.split('Basic ') ?? [];
    expect(Buffer.from(encoded, 'base64').toString()).toBe('user:p@ss:ü%');
  });
});

describe('A destination', () => {
  it.each([
    'http://10.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/',
    'http://localhost.example.test/',
  ])('that is not allowed is blocked before the proxy is asked: %s', async (url) => {
    const proxy = await startProxy();
    const dns = await startDns((_name, type) => (type === 'A' ? ['192.168.1.1'] : []));
    expect(await post(clientOf(proxy.url, { dnsServers: [dns.server] }), url)).toMatchObject({
      code: 'destination_blocked',
    });
    await proxy.cut();
    expect(await post(clientOf(proxy.url, { dnsServers: [dns.server] }), url)).toMatchObject({
      code: 'destination_blocked',
    });
    expect(proxy.requests).toEqual([]);
  });

  it.each<[string, (port: number) => string]>([
    ['its address and port', (port) => `http://127.0.0.2:${port}/`],
    ['another port', () => 'https://127.0.0.2/'],
    ['a name with its address', () => 'http://proxy.example.test/'],
    ['an IPv6 form of its address', () => 'http://[::ffff:127.0.0.2]/'],
    ['its port on another address of this machine', (port) => `http://127.0.0.1:${port}/`],
    ['its port on localhost', (port) => `http://localhost:${port}/`],
  ])('cannot be the proxy: %s', async (_, urlOf) => {
    const proxy = await startProxy();
    const dns = await startDns((_name, type) => (type === 'A' ? ['127.0.0.2'] : []));
    const policy = new AddressPolicy(['127.0.0.0/8', '::1/128', '::ffff:0:0/96']);
    const client = clientOf(proxy.url, { policy, dnsServers: [dns.server] });
    expect(await post(client, urlOf(proxy.port))).toMatchObject({ code: 'destination_blocked', rule: 'egress proxy' });
    expect(proxy.requests).toEqual([]);
  });
});

describe('A proxy that resolves names', () => {
  const resolving = { proxyResolves: true };

  it('gets the host name, which the service does not resolve', async () => {
    const receiver = await answering({ tls: authority.issue('hooks.example.test') });
    const proxy = await startProxy({ route: () => `127.0.0.1:${receiver.port}` });
    const dns = await startDns(() => 'NXDOMAIN');
    const client = clientOf(proxy.url, { ...resolving, dnsServers: [dns.server] });
    expect(await post(client, 'https://hooks.example.test/')).toMatchObject({ status: 200 });
    expect(await post(client, 'https://other.example.test/')).toMatchObject({ code: 'tls_invalid', tls: 'wrong_host' });
    expect(targetsOf(proxy)).toEqual(['hooks.example.test:443', 'other.example.test:443']);
    expect(dns.questions).toEqual([]);
  });

  it.each<[string, string]>([
    ['http://10.0.0.1/', '127.0.0.2'],
    ['http://0x0a000001/', '127.0.0.2'],
    ['http://127.0.0.2:8080/', '127.0.0.2'],
    ['http://LOCALHOST:1/', '127.0.0.2'],
    ['http://proxy.test./', 'proxy.test'],
  ])('is not asked for %s when it is %s', async (url, host) => {
    const policy = new AddressPolicy(['127.0.0.2/32']);
    const client = clientOf(`http://${host}:1`, { ...resolving, policy });
    expect(await post(client, url)).toMatchObject({ code: 'destination_blocked' });
  });
});

describe('A proxy that fails', () => {
  const failing = (script: (client: Socket) => void) => async () => {
    const proxy = await startProxy();
    proxy.behave(script);
    return proxy.url;
  };

  it.each<[string, () => Promise<string>]>([
    ['refuses connections', () => Promise.resolve('http://127.0.0.2:1')],
    ['has no address', () => Promise.resolve('http://proxy.invalid:3128')],
    [
      'requires other credentials',
      failing((client) => client.end('HTTP/1.1 407 No\r\nproxy-authenticate: Basic\r\n\r\n')),
    ],
    ['closes the connection', failing((client) => client.end())],
    ['resets the connection', failing((client) => client.resetAndDestroy())],
    ['sends garbage', failing((client) => client.write('SSH-2.0-OpenSSH\r\n'))],
    ['sends a broken status', failing((client) => client.write('HTTP/1.1 2000 OK\r\n\r\n'))],
    ['sends 101', failing((client) => client.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'))],
    [
      'sends an endless header',
      failing((client) => {
        const write = () => {
          while (client.writable && client.write(`x-canary: ${'c'.repeat(1000)}\r\n`));
        };
        client.write('HTTP/1.1 200 OK\r\n');
        client.on('drain', write);
        write();
      }),
    ],
    [
      'is another server than its certificate says',
      async () => (await startProxy({ tls: authority.issue('proxy.test') })).url,
    ],
    ['has a certificate of a stranger', async () => (await startProxy({ tls: stranger.issue('127.0.0.2') })).url],
    ['does not speak TLS', async () => (await startProxy()).url.replace('http', 'https')],
  ])('%s: nothing is sent', async (_, start) => {
    const receiver = await answering();
    const result = await post(clientOf(await start()), receiver.url);
    expect(result).toEqual({ kind: 'failure', code: 'proxy_failed', durationMs: expect.any(Number) });
    // eslint-disable-next-line no-restricted-syntax -- less than the deadline
    expect(result.durationMs).toBeLessThan(9000);
    expect(receiver.connections).toEqual([]);
    expect(logged).toEqual([
      expect.stringMatching(/^The egress proxy failed; requests through it will be retried: [\w ]+$/),
    ]);
  });

  it.each<[string, (client: Socket) => void]>([
    ['does not respond', () => undefined],
    [
      'responds one byte at a time',
      (client) => {
        const timer = setInterval(() => client.write('x'), 20);
        client.write('HTTP/1.1 200 OK\r\nx-a: ');
        client.once('close', () => clearInterval(timer));
      },
    ],
  ])('%s: fails at the deadline of the request, and the connection is closed', async (_, script) => {
    const proxy = await startProxy();
    proxy.behave(script);
    const timeoutMs = 5000;
    const result = await post(clientOf(proxy.url, { timeoutMs }), `http://${PUBLIC}/`, 500);
    expect(result).toMatchObject({ code: 'proxy_failed' });
    // eslint-disable-next-line no-restricted-syntax -- the client's own deadline, at which the connection is closed
    expect(result.durationMs).toBeLessThan(timeoutMs);
    await waitFor(() => proxy.openConnections() === 0, { what: 'the connection to close' });
  });

  it('does not accept the TLS handshake: fails at the deadline', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.2');
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    const client = clientOf(`https://127.0.0.2:${port}`, { timeoutMs: 500 });
    expect(await post(client, `http://${PUBLIC}/`)).toMatchObject({ code: 'proxy_failed' });
    silent.close();
    // It reads nothing, so it does not see that the client has gone.
    for (const socket of sockets) socket.destroy();
  });

  it.each([502, 503, 504, 403, 400, 302])(
    'is not one that returns %d: the destination is unreachable',
    async (status) => {
      const proxy = await startProxy();
      proxy.behave((client) => client.end(`HTTP/1.1 ${status} Canary\r\nx-canary: 1\r\n\r\n<h1>canary</h1>`));
      const result = await post(clientOf(proxy.url), `http://${PUBLIC}/`);
      expect(result).toEqual({ kind: 'failure', code: 'unreachable', durationMs: expect.any(Number) });
      await waitFor(() => proxy.openConnections() === 0, { what: 'the connection to close' });
    },
  );

  it('is not one that responds to others meanwhile: the destination times out', async () => {
    const receiver = await answering();
    const proxy = await startProxy();
    const client = clientOf(proxy.url);
    proxy.behave(() => undefined);
    const hanging = post(client, `http://${PUBLIC}/`, 2000);
    await waitFor(() => proxy.requests.length === 1, { what: 'the first request' });
    proxy.behave(null);
    expect(await post(client, receiver.url)).toMatchObject({ status: 200 });
    expect(await hanging).toMatchObject({ code: 'timeout', phase: 'connect' });
  });

  it('is not one that refused another address before: the destination times out', async () => {
    const proxy = await startProxy();
    proxy.behave((client, { target }) => {
      if (target === '203.0.113.9:80') client.end('HTTP/1.1 503 No\r\n\r\n');
    });
    const dns = await startDns((_name, type) => (type === 'A' ? ['203.0.113.9', PUBLIC] : []));
    const client = clientOf(proxy.url, { dnsServers: [dns.server], timeoutMs: 3000 });
    expect(await post(client, 'http://two.example.test/')).toMatchObject({ code: 'timeout', phase: 'connect' });
    proxy.behave((client, { target }) => {
      if (target === '203.0.113.9:80') client.end('HTTP/1.1 503 No\r\n\r\n');
      else client.end();
    });
    expect(await post(client, 'http://two.example.test/')).toMatchObject({ code: 'proxy_failed' });
  });

  it.each<[string, string, (client: Socket) => void]>([
    ['closes', 'connection_reset', (client) => client.end('HTTP/1.1 200 OK\r\n\r\n')],
    ['speaks no TLS in', 'tls_invalid', (client) => client.write('HTTP/1.1 200 OK\r\n\r\nSSH-2.0-OpenSSH\r\n')],
  ])('is not one that opens a tunnel: what %s it is the destination', async (_, code, script) => {
    const proxy = await startProxy();
    proxy.behave(script);
    const result = await post(clientOf(proxy.url), `https://${PUBLIC}/`);
    expect(result).toMatchObject({ kind: 'failure', code });
    // eslint-disable-next-line no-restricted-syntax -- less than the deadline
    expect(result.durationMs).toBeLessThan(9000);
  });
});

describe('A proxy with TLS', () => {
  it.each(['http:', 'https:'])('is verified by its own name, and carries %s', async (protocol) => {
    const names: unknown[] = [];
    const proxy = await startProxy({
      host: '127.0.0.1',
      tls: {
        ...authority.issue('localhost'),
        ALPNCallback: ({ servername }) => {
          names.push(servername);
          return 'http/1.1';
        },
        SNICallback: (servername, callback) => {
          names.push(servername);
          callback(null);
        },
      },
      route: () => `127.0.0.1:${receiver.port}`,
    });
    const receiver = await answering(protocol === 'https:' ? { tls: authority.issue('hooks.example.test') } : {});
    const dns = await startDns((_name, type) => (type === 'A' ? [PUBLIC] : []));
    const client = clientOf(`https://localhost:${proxy.port}`, { dnsServers: [dns.server] });
    for (let round = 0; round < 2; round += 1) {
      expect(await post(client, `${protocol}//hooks.example.test/`)).toMatchObject({ status: 200, body: 'ok' });
    }
    expect(new Set(names)).toEqual(new Set(['localhost']));
    expect(proxy.requests).toHaveLength(1);
  });

  it('may be an address', async () => {
    const receiver = await answering();
    const proxy = await startProxy({ tls: authority.issue('127.0.0.2') });
    expect(await post(clientOf(proxy.url), receiver.url)).toMatchObject({ status: 200 });
  });
});
