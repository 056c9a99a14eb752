import type { buildConnector } from 'undici';
import { AddressPolicy, type AddressVerdict } from '../../../../src/infrastructure/destinations/address';
import { DestinationBlockedError } from '../../../../src/infrastructure/destinations/failure';
import { Connector } from '../../../../src/infrastructure/destinations/connector.client';
import { HttpClient } from '../../../../src/infrastructure/destinations/http.client';
import { NameResolver } from '../../../../src/infrastructure/destinations/resolver.client';
import { type DnsScript, useHostileDns } from '../../../support/hostile-dns';
import { type HostileReceiver, useHostileReceivers } from '../../../support/hostile-receiver';
import { waitFor } from '../../../support/wait-for';

/** These stand for a public and a private address; the receiver listens on both. */
const PUBLIC = '127.0.0.1';
const PRIVATE = '127.0.0.2';
const KEPT_OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

const startReceiver = useHostileReceivers();
const startDns = useHostileDns();
const clients: HttpClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.onApplicationShutdown())));

let receiver: HostileReceiver;
beforeEach(async () => {
  receiver = await startReceiver({
    host: '0.0.0.0',
    onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
  });
});

async function clientOf(script: DnsScript, allowed = [`${PUBLIC}/32`], timeoutMs = 10_000) {
  const dns = await startDns(script);
  const policy = new AddressPolicy(allowed);
  const client = new HttpClient({ policy, dnsServers: [dns.server], timeoutMs, requireHttps: false });
  clients.push(client);
  const post = (name: string) => client.post({ url: `http://${name}:${receiver.port}/`, headers: {}, body: '{}' });
  return { dns, client, post };
}

/** Answers queries for IPv4 addresses, and returns no IPv6 addresses. */
const onlyIpv4 =
  (answer: (name: string, nth: number) => ReturnType<DnsScript>): DnsScript =>
  (name, type, nth) =>
    type === 'A' ? answer(name, nth) : [];

const BLOCKED = { kind: 'failure', code: 'destination_blocked', rule: 'loopback', durationMs: expect.any(Number) };
const OK = { kind: 'response', status: 200 };

describe('a host name', () => {
  it('is resolved by the given server and reaches its allowed address under its own name', async () => {
    const { dns, post } = await clientOf(onlyIpv4(() => [PUBLIC]));
    expect(await post('hooks.example.test')).toMatchObject(OK);
    expect([...dns.questions].sort()).toEqual(['A hooks.example.test', 'AAAA hooks.example.test']);
    expect(receiver.connections).toEqual([PUBLIC]);
    expect(receiver.requests[0]).toContain(`host: hooks.example.test:${receiver.port}\r\n`);
  });

  it('that resolves to a private address is blocked, and no socket is opened', async () => {
    const { post } = await clientOf(onlyIpv4(() => [PRIVATE]));
    expect(await post('private.example.test')).toEqual(BLOCKED);
    expect(receiver.connections).toEqual([]);
  });

  it('that resolves to a private IPv6 address is blocked', async () => {
    const { post } = await clientOf((_name, type) => (type === 'AAAA' ? ['::1', 'fd00::1', '::ffff:7f00:1'] : []));
    expect(await post('private6.example.test')).toEqual(BLOCKED);
    expect(receiver.connections).toEqual([]);
  });

  it.each(['64:ff9b::a00:1', '64:ff9b::a9fe:a9fe', '2002:0a00:1::', '2001:0:4136:e378:8000:63bf:3fff:fdd2'])(
    'that resolves to %s, which leads to an IPv4 address that is not allowed, is blocked',
    async (address) => {
      const { post } = await clientOf((_name, type) => (type === 'AAAA' ? [address] : []));
      expect(await post('embedded.example.test')).toMatchObject({ kind: 'failure', code: 'destination_blocked' });
    },
  );

  it('never reaches the private address of a mixed DNS response', async () => {
    const { post } = await clientOf(onlyIpv4((_name, nth) => (nth % 2 ? [PRIVATE, PUBLIC] : [PUBLIC, PRIVATE])));
    for (let round = 0; round < 10; round += 1) expect(await post('mixed.example.test')).toMatchObject(OK);
    expect(new Set(receiver.connections)).toEqual(new Set([PUBLIC]));
  });

  it('with a public IPv4 and a private IPv6 address reaches only the public one', async () => {
    const { post } = await clientOf((_name, type) => (type === 'A' ? [PUBLIC] : ['::1']));
    expect(await post('dual.example.test')).toMatchObject(OK);
    expect(receiver.connections).toEqual([PUBLIC]);
  });

  it('never reaches an address to which it is rebound, in 1,000 rounds', async () => {
    // The receiver listens on every address of 127.0.0.0/8.
    const canary = await startReceiver({
      host: '::1',
      port: receiver.port,
      onRequest: (socket) => socket.end(KEPT_OK),
    });
    const rebound = [PRIVATE, '127.0.0.3', '127.255.255.254', '0.0.0.0', '10.0.0.1'];
    // A query may be repeated within a round, and then gets the same answer.
    let round = 0;
    const script: DnsScript = (_name, type) => {
      if (type === 'AAAA') return round % 3 ? [] : ['::1', '::ffff:7f00:2'];
      return round % 2 ? [PUBLIC] : [rebound[round % rebound.length]!];
    };
    const { post } = await clientOf(script);
    const kinds: Record<string, number> = {};
    for (round = 1; round <= 1000; round += 1) {
      const { kind } = await post('rebind.example.test');
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
    expect(kinds).toEqual({ response: 500, failure: 500 });
    expect(new Set(receiver.connections)).toEqual(new Set([PUBLIC]));
    expect(canary.connections).toEqual([]);
    // The canary would have received a connection.
    const { post: postAnywhere } = await clientOf(
      (_name, type) => (type === 'AAAA' ? ['::1'] : []),
      ['127.0.0.0/8', '::1/128'],
    );
    expect(await postAnywhere('anywhere.example.test')).toMatchObject(OK);
    expect(canary.connections).toHaveLength(1);
  });

  it('whose address changes while a connection is open reaches only the old, allowed address', async () => {
    const kept = await startReceiver({ host: '0.0.0.0', onRequest: (socket) => socket.write(KEPT_OK) });
    const { dns, client } = await clientOf(onlyIpv4((_name, nth) => (nth === 1 ? [PUBLIC] : [PRIVATE])));
    const send = () => client.post({ url: `http://moves.example.test:${kept.port}/`, headers: {}, body: '' });
    for (let round = 0; round < 3; round += 1) expect(await send()).toMatchObject(OK);
    expect([kept.connections, dns.questions.length]).toEqual([[PUBLIC], 2]);
    // What comes next needs a new connection, whose address is classified again.
    kept.hangUp();
    await waitFor(() => kept.openConnections() === 0, { what: 'the connection to close' });
    expect(await send()).toEqual(BLOCKED);
    expect(kept.connections).toEqual([PUBLIC]);
  });

  it('reaches its second address, and never the first, when the first is not allowed', async () => {
    const { post } = await clientOf(onlyIpv4(() => [PRIVATE, PUBLIC]));
    expect(await post('second.example.test')).toMatchObject(OK);
    expect(receiver.connections).toEqual([PUBLIC]);
  });

  it('that becomes private between two attempts is blocked on the second', async () => {
    let address = PUBLIC;
    const { post } = await clientOf(onlyIpv4(() => [address]));
    expect(await post('turns.example.test')).toMatchObject(OK);
    address = PRIVATE;
    expect(await post('turns.example.test')).toEqual(BLOCKED);
    expect(receiver.connections).toEqual([PUBLIC]);
  });

  it.each<[string, ReturnType<DnsScript>]>([
    ['NXDOMAIN', 'NXDOMAIN'],
    ['SERVFAIL', 'SERVFAIL'],
    ['an empty response', []],
  ])('answered with %s is not found', async (_title, answer) => {
    const { post } = await clientOf(() => answer);
    expect(await post('nowhere.example.test')).toMatchObject({ kind: 'failure', code: 'dns_not_found' });
  });

  it('that is invalid in DNS is not found', async () => {
    const { post } = await clientOf(() => 'NXDOMAIN');
    const names = ['a..b', `${'a'.repeat(64)}.test`, Array.from({ length: 130 }, () => 'ab').join('.')];
    for (const name of names) expect(await post(name)).toMatchObject({ kind: 'failure', code: 'dns_not_found' });
  });

  it('whose DNS server is down is not to blame', async () => {
    const { post } = await clientOf(() => []);
    const client = new HttpClient({
      policy: new AddressPolicy([]),
      dnsServers: ['127.0.0.1:1'],
      timeoutMs: 10_000,
      requireHttps: false,
    });
    clients.push(client);
    const result = await client.post({ url: 'http://example.test/', headers: {}, body: '' });
    expect(result).toMatchObject({ kind: 'failure', code: 'dns_failed' });
    expect(await post('other.example.test')).toMatchObject({ code: 'dns_not_found' });
  });

  it('whose query is never answered times out at the deadline, while others succeed', async () => {
    const { post } = await clientOf(
      onlyIpv4((name) => (name.startsWith('silent') ? 'silence' : [PUBLIC])),
      undefined,
      3000,
    );
    const silent = Array.from({ length: 20 }, (_, nth) => post(`silent${nth}.example.test`));
    const others = await Promise.all(Array.from({ length: 20 }, (_, nth) => post(`other${nth}.example.test`)));
    for (const other of others) expect(other).toMatchObject(OK);
    for (const result of await Promise.all(silent)) {
      expect(result).toEqual({ kind: 'failure', code: 'timeout', phase: 'dns', durationMs: expect.any(Number) });
    }
  });

  it('whose DNS server ignores IPv6 queries is reached anyway', async () => {
    const { post } = await clientOf((_name, type) => (type === 'A' ? [PUBLIC] : 'silence'));
    expect(await post('half.example.test')).toMatchObject(OK);
  });

  it('is resolved once for concurrent attempts', async () => {
    const { dns, post } = await clientOf(onlyIpv4(() => [PUBLIC]));
    await Promise.all(Array.from({ length: 10 }, () => post('busy.example.test')));
    expect(dns.questions).toHaveLength(2);
  });

  it('with an address that refuses connections is reached at the next one', async () => {
    const local = await startReceiver({
      host: PUBLIC,
      onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    });
    const { client } = await clientOf(
      onlyIpv4(() => ['127.0.0.3', '127.0.0.4', PUBLIC]),
      ['127.0.0.0/8'],
    );
    const result = await client.post({ url: `http://several.example.test:${local.port}/`, headers: {}, body: '' });
    expect(result).toMatchObject(OK);
  });

  it('with many IPv4 addresses that fail is reached at its IPv6 address, like that of DNS64', async () => {
    const local = await startReceiver({ host: '::1', onRequest: (socket) => socket.end(KEPT_OK) });
    const many = Array.from({ length: 9 }, (_, nth) => `127.1.0.${nth}`);
    const { client } = await clientOf((_name, type) => (type === 'A' ? many : ['::1']), ['127.0.0.0/8', '::1/128']);
    const result = await client.post({ url: `http://six.example.test:${local.port}/`, headers: {}, body: '' });
    expect(result).toMatchObject(OK);
  });

  it('with many addresses does not cause a connection to each of them', async () => {
    const many = Array.from({ length: 25 }, (_, nth) => `127.1.0.${nth}`);
    const { client } = await clientOf(
      onlyIpv4(() => many),
      ['127.0.0.0/8'],
    );
    const result = await client.post({ url: 'http://many.example.test:1/', headers: {}, body: '' });
    expect(result).toMatchObject({ kind: 'failure', code: 'connection_refused' });
  });
});

it('a shutdown during the resolution of a name is an internal error', async () => {
  const { client, dns, post } = await clientOf(() => 'silence');
  const ended = expect(post('silent.example.test')).rejects.toThrow();
  await waitFor(() => dns.questions.length >= 2, { what: 'the DNS queries' });
  await client.onApplicationShutdown();
  await ended;
  await expect(post('silent.example.test')).rejects.toThrow();
});

describe('a localhost name', () => {
  it.each(['localhost', 'api.localhost', 'localhost.'])(
    '%s resolves to the loopback addresses without DNS',
    async (name) => {
      const { dns, post } = await clientOf(() => [PRIVATE]);
      expect(await post(name)).toMatchObject(OK);
      expect(dns.questions).toEqual([]);
      expect(receiver.connections).toEqual([PUBLIC]);
    },
  );

  it('is blocked when neither loopback address is allowed', async () => {
    const { post } = await clientOf(() => [PUBLIC], []);
    expect(await post('localhost')).toMatchObject({ code: 'destination_blocked', rule: 'loopback', durationMs: 0 });
    expect(receiver.connections).toEqual([]);
  });
});

describe('a stored url', () => {
  it.each(['127.0.0.2', '127.1', '0x7f000002', '[::1]', '[::ffff:127.0.0.2]', '0.0.0.0', '[::]'])(
    'with the address %s is blocked, and no socket is opened',
    async (host) => {
      const { post } = await clientOf(() => [PUBLIC], ['10.0.0.0/8']);
      expect(await post(host)).toMatchObject({ kind: 'failure', code: 'destination_blocked' });
      expect(receiver.connections).toEqual([]);
    },
  );

  it('that a stricter rule now forbids is blocked', async () => {
    const policy = new AddressPolicy(['127.0.0.0/8']);
    const client = new HttpClient({ policy, dnsServers: [], timeoutMs: 10_000, requireHttps: true });
    clients.push(client);
    const result = await client.post({ url: receiver.url, headers: {}, body: '' });
    expect(result).toEqual({ kind: 'failure', code: 'destination_blocked', rule: 'plain http', durationMs: 0 });
    expect(receiver.connections).toEqual([]);
  });
});

describe('the connector', () => {
  const connectWith = (policy: AddressPolicy, hostname: string) => {
    const resolver = new NameResolver([], 10_000);
    const connector = new Connector({ policy, resolver, timeoutMs: 10_000 });
    return new Promise<Error | null>((resolve) => {
      const options = { hostname, protocol: 'http:', port: String(receiver.port) };
      const callback: buildConnector.Callback = (error, socket) => {
        socket?.destroy();
        resolve(error);
      };
      connector.connect(options, callback, { phase: 'dns' });
    });
  };

  it.each(['127.0.0.1', '::1', '::ffff:7f00:1', '0.0.0.0', '::', 'localhost'])(
    'opens no socket to %s unless it is allowed',
    async (hostname) => {
      expect(await connectWith(new AddressPolicy([]), hostname)).toBeInstanceOf(DestinationBlockedError);
      expect(receiver.connections).toEqual([]);
    },
  );

  it('closes a connection to an address that is no longer allowed when it is reached', async () => {
    class FicklePolicy extends AddressPolicy {
      private classified = 0;
      override classify(address: string): AddressVerdict {
        this.classified += 1;
        return this.classified > 1 ? { allowed: false, rule: 'fickle' } : super.classify(address);
      }
    }
    const error = await connectWith(new FicklePolicy(['127.0.0.0/8']), '127.0.0.1');
    expect(error).toEqual(new DestinationBlockedError('fickle'));
    await waitFor(() => receiver.connections.length === 1 && receiver.openConnections() === 0, {
      what: 'the end of the connection',
    });
    expect(receiver.requests).toEqual([]);
  });
});
