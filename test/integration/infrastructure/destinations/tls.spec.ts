import { AddressPolicy } from '../../../../src/infrastructure/destinations/address';
import { HttpClient } from '../../../../src/infrastructure/destinations/http.client';
import { EXPIRED, makeAuthority } from '../../../support/hostile-certificates';
import { useHostileDns } from '../../../support/hostile-dns';
import { type HostileOptions, useHostileReceivers } from '../../../support/hostile-receiver';

const trusted = makeAuthority('trusted authority');
const stranger = makeAuthority('strange authority');

const startReceiver = useHostileReceivers();
const startDns = useHostileDns();
let client: HttpClient;
beforeAll(async () => {
  const dns = await startDns((name, type) => {
    if (type === 'AAAA') return [];
    return name.startsWith('several') ? ['127.0.0.3', '127.0.0.4', '127.0.0.1'] : ['127.0.0.1'];
  });
  client = new HttpClient({
    policy: new AddressPolicy(['127.0.0.0/8']),
    dnsServers: [dns.server],
    timeoutMs: 10_000,
    requireHttps: true,
    trustedCertificates: [trusted.cert],
  });
});
afterAll(() => client.onApplicationShutdown());

const ANSWER: HostileOptions['onRequest'] = (socket) =>
  socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');

const startTls = (tls: HostileOptions['tls']) => startReceiver({ tls, onRequest: ANSWER });
const postTo = (host: string, port: number) =>
  client.post({ url: `https://${host}:${port}/`, headers: {}, body: '{}' });

describe('a TLS receiver', () => {
  it('with a valid certificate is reached by name, with that name as SNI and HTTP/1.1 as protocol', async () => {
    const seen: unknown[] = [];
    const receiver = await startReceiver({
      tls: {
        ...trusted.issue('hooks.example.test'),
        ALPNCallback: ({ servername, protocols }) => {
          seen.push(servername, protocols);
          return 'http/1.1';
        },
      },
      onRequest: ANSWER,
    });
    expect(await postTo('hooks.example.test', receiver.port)).toMatchObject({ kind: 'response', status: 200 });
    expect(seen).toEqual(['hooks.example.test', ['http/1.1']]);
  });

  it('is reached by a name with a trailing dot', async () => {
    const receiver = await startTls(trusted.issue('hooks.example.test'));
    expect(await postTo('hooks.example.test.', receiver.port)).toMatchObject({ kind: 'response', status: 200 });
  });

  it('is reached by an address that its certificate names', async () => {
    const receiver = await startTls(trusted.issue('127.0.0.1'));
    expect(await postTo('127.0.0.1', receiver.port)).toMatchObject({ kind: 'response', status: 200 });
  });

  it('is reached at localhost', async () => {
    const receiver = await startTls(trusted.issue('localhost'));
    expect(await postTo('localhost', receiver.port)).toMatchObject({ kind: 'response', status: 200 });
  });

  it('is reached at the next address when the first ones refuse connections', async () => {
    const receiver = await startTls(trusted.issue('several.example.test'));
    expect(await postTo('several.example.test', receiver.port)).toMatchObject({ kind: 'response', status: 200 });
  });

  it.each([
    ['signed by an unknown authority', 'incomplete_chain', () => stranger.issue('hooks.example.test')],
    ['that is self-signed', 'self_signed', () => stranger],
    ['for another host', 'wrong_host', () => trusted.issue('other.example.test')],
    ['that has expired', 'expired', () => trusted.issue('hooks.example.test', EXPIRED)],
  ])('with a certificate %s fails with tls_invalid, every time and in every version', async (_title, tls, identity) => {
    const { cert, key } = identity();
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const receiver = await startTls({ cert, key, maxVersion });
      for (let round = 0; round < 3; round += 1) {
        const result = await postTo('hooks.example.test', receiver.port);
        expect(result).toEqual({ kind: 'failure', code: 'tls_invalid', tls, durationMs: expect.any(Number) });
      }
      expect(receiver.requests).toEqual([]);
    }
  });

  it('with a certificate for another address fails with tls_invalid', async () => {
    const receiver = await startTls(trusted.issue('127.0.0.9'));
    expect(await postTo('127.0.0.1', receiver.port)).toMatchObject({ code: 'tls_invalid' });
  });

  it('that requires a client certificate receives no request', async () => {
    const identity = trusted.issue('hooks.example.test');
    const receiver = await startTls({ ...identity, ca: stranger.cert, requestCert: true, rejectUnauthorized: true });
    expect(await postTo('hooks.example.test', receiver.port)).toMatchObject({ kind: 'failure' });
    expect(receiver.requests).toEqual([]);
  });

  it.each<[string, HostileOptions]>([
    ['waits for a request', { onRequest: (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') }],
    [
      'responds to anything',
      { onConnection: (socket) => socket.on('data', () => socket.write('HTTP/1.1 400 Bad\r\n\r\n')) },
    ],
    ['speaks first', { onConnection: (socket) => socket.write('220 mail.example.test ESMTP\r\n') }],
  ])('that speaks plain text and %s receives no request', async (title, options) => {
    const receiver = await startReceiver(options);
    const isSilent = title === 'waits for a request';
    const short = new HttpClient({
      policy: new AddressPolicy(['127.0.0.0/8']),
      dnsServers: [],
      timeoutMs: isSilent ? 1000 : 10_000,
      requireHttps: true,
    });
    const result = await short.post({ url: `https://127.0.0.1:${receiver.port}/`, headers: {}, body: '{}' });
    expect(result).toMatchObject({
      kind: 'failure',
      ...(isSilent ? { code: 'timeout', phase: 'tls' } : { code: 'tls_invalid', tls: 'no_tls' }),
    });
    expect(receiver.requests).toEqual([]);
    await short.onApplicationShutdown();
  });

  it.each<[string, HostileOptions]>([
    ['closes', { onConnection: (socket) => socket.once('data', () => socket.end()) }],
    ['resets', { onConnection: (socket) => socket.once('data', () => socket.resetAndDestroy()) }],
  ])('that %s during the handshake fails with connection_reset', async (_title, options) => {
    const receiver = await startReceiver(options);
    expect(await postTo('127.0.0.1', receiver.port)).toMatchObject({ kind: 'failure', code: 'connection_reset' });
    expect(receiver.connections).toHaveLength(1);
  });
});
