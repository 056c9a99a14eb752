import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AddressPolicy } from '../../../../src/infrastructure/destinations/address';
import { HttpClient } from '../../../../src/infrastructure/destinations/http.client';
import { type DnsScript, type RootAnswer, useHostileDns } from '../../../support/hostile-dns';
import { type HostileReceiver, useHostileReceivers } from '../../../support/hostile-receiver';
import { freePort } from '../../../support/service';
import { waitFor } from '../../../support/wait-for';

/** These stand for a public and a private address; the receiver listens on both. */
const PUBLIC = '127.0.0.1';
const PRIVATE = '127.0.0.2';
const OK = { kind: 'response', status: 200 };
const BLOCKED = { kind: 'failure', code: 'destination_blocked', rule: 'loopback' };
const NOT_FOUND = { kind: 'failure', code: 'dns_not_found' };
const OURS = { kind: 'failure', code: 'dns_failed' };

const startReceiver = useHostileReceivers();
const startDns = useHostileDns();
const clients: HttpClient[] = [];
afterEach(() => Promise.all(clients.splice(0).map((client) => client.onApplicationShutdown())));

let folder: string;
let receiver: HostileReceiver;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'names-'));
  receiver = await startReceiver({
    host: '0.0.0.0',
    onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
  });
});
afterEach(() => rm(folder, { recursive: true }));

const at = (name: string) => join(folder, name);
const write = (name: string, ...lines: string[]) => writeFile(at(name), `${lines.join('\n')}\n`);
/** resolv.conf has no ports; that they are understood lets a test serve names without being root. */
const naming = (name: string, { server }: { server: string }) => write(name, `nameserver ${server}`);

function clientOf(dnsServers: readonly string[] = [], timeoutMs = 10_000) {
  const client = new HttpClient({
    ...{ policy: new AddressPolicy([`${PUBLIC}/32`]), dnsServers, timeoutMs, requireHttps: false },
    systemFiles: { hosts: at('hosts'), resolverConfig: at('resolv.conf') },
  });
  clients.push(client);
  return (name: string, withinMs?: number) =>
    client.post({ url: `http://${name}:${receiver.port}/`, headers: {}, body: '{}' }, withinMs);
}

const addressOf =
  (answer: (name: string) => ReturnType<DnsScript>): DnsScript =>
  (name, type) =>
    type === 'A' ? answer(name) : [];

describe('resolv.conf', () => {
  const here = addressOf(() => [PUBLIC]);

  it.each<[string, (second: { server: string }) => Promise<void>]>([
    ['is written again', (second) => naming('resolv.conf', second)],
    [
      'is replaced by a rename',
      async (second) => {
        await naming('new', second);
        await rename(at('new'), at('resolv.conf'));
      },
    ],
    [
      'is replaced by a link',
      async (second) => {
        await naming('target', second);
        await rm(at('resolv.conf'));
        await symlink(at('target'), at('resolv.conf'));
      },
    ],
    [
      'cannot be read for a while',
      async (second) => {
        await rm(at('resolv.conf'));
        await mkdir(at('resolv.conf'));
        await pausedBy(1500);
        await rm(at('resolv.conf'), { recursive: true });
        await naming('resolv.conf', second);
      },
    ],
    [
      'is empty for a while',
      async (second) => {
        await writeFile(at('resolv.conf'), '');
        await pausedBy(1500);
        await naming('resolv.conf', second);
      },
    ],
  ])('is followed when it %s', async (_, change) => {
    const [first, second] = [await startDns(here), await startDns(here)];
    await naming('resolv.conf', first);
    const post = clientOf();
    paused = async () => expect(await post('receiver.example.test')).toMatchObject(OK);
    await paused();
    expect([first.questions.length > 0, second.questions.length]).toEqual([true, 0]);
    await change(second);
    await waitFor(
      async () => {
        expect(await post('receiver.example.test')).toMatchObject(OK);
        return second.questions.length > 0;
      },
      { what: 'a question to the new server', everyMs: 50 },
    );
  });

  /** Posts for so long, by the servers that were named before. */
  let paused: () => Promise<void>;
  async function pausedBy(ms: number): Promise<void> {
    for (const endsAt = performance.now() + ms; performance.now() < endsAt;) await paused();
  }

  it('is followed when it appears only after the start', async () => {
    const dns = await startDns(here);
    const post = clientOf();
    await naming('resolv.conf', dns);
    await waitFor(async () => (await post('receiver.example.test')).kind === 'response', { what: 'the name' });
  });

  it('names no servers beside DNS_SERVERS', async () => {
    const [given, other] = [await startDns(here), await startDns(here)];
    await naming('resolv.conf', other);
    expect(await clientOf([given.server])('receiver.example.test')).toMatchObject(OK);
    expect(other.questions).toEqual([]);
  });

  it('names search domains, for names without a dot only', async () => {
    const addresses: Record<string, string> = { 'receiver.two.test': PUBLIC, 'inner.one.test': PRIVATE, plain: PUBLIC };
    const dns = await startDns((name, type) => {
      const found = addresses[name];
      return found === undefined ? 'NXDOMAIN' : type === 'A' ? [found] : [];
    });
    await write('resolv.conf', `nameserver ${dns.server}`, 'search one.test two.test', 'options ndots:5');
    const post = clientOf();
    expect(await post('receiver')).toMatchObject(OK);
    expect(await post('plain')).toMatchObject(OK);
    expect(await post('inner')).toMatchObject(BLOCKED);
    const before = dns.questions.length;
    expect(await post('receiver.two')).toMatchObject(NOT_FOUND);
    expect(new Set(dns.questions.slice(before))).toEqual(new Set(['A receiver.two', 'AAAA receiver.two']));
  });
});

describe('The hosts file', () => {
  it('is followed, comes before DNS, and its addresses are judged as any others', async () => {
    const dns = await startDns(() => 'NXDOMAIN');
    await write('hosts', `${PUBLIC} Receiver.Test other.test`, `${PRIVATE} inner.test other.test`);
    const post = clientOf([dns.server]);
    expect(await post('receiver.test')).toMatchObject(OK);
    expect(await post('receiver.test.')).toMatchObject(OK);
    expect(await post('other.test')).toMatchObject(OK);
    expect(await post('inner.test')).toMatchObject(BLOCKED);
    expect(dns.questions).toEqual([]);
    expect(new Set(receiver.connections)).toEqual(new Set([PUBLIC]));
    expect(await post('late.test')).toMatchObject(NOT_FOUND);
    await write('hosts', `${PUBLIC} late.test`);
    await waitFor(async () => (await post('late.test')).kind === 'response', { what: 'the new name', everyMs: 50 });
    expect(await post('receiver.test')).toMatchObject(NOT_FOUND);
    await rm(at('hosts'));
    await waitFor(async () => (await post('late.test')).kind === 'failure', { what: 'the end of it', everyMs: 50 });
  });
});

describe('Name servers', () => {
  it.each<[ReturnType<RootAnswer>, ReturnType<DnsScript>]>([
    ['SERVFAIL', 'SERVFAIL'],
    ['silence', 'SERVFAIL'],
    ['silence', 'silence'],
    ['SERVFAIL', 'silence'],
  ])('that answer with %s for the root are ours, and not the name, when they answer %s for it', async (root, name) => {
    let answersRoot: ReturnType<RootAnswer> = root;
    const dns = await startDns(
      () => name,
      () => answersRoot,
    );
    const post = clientOf([dns.server], 1000);
    expect(await post('receiver.example.test')).toMatchObject(OURS);
    expect(await post('receiver.example.test', 500)).toMatchObject(OURS);
    answersRoot = 'servers';
    const theirs = name === 'silence' ? { code: 'timeout', phase: 'dns' } : NOT_FOUND;
    const result = await waitFor(
      async () => {
        const ended = await post('receiver.example.test');
        return ended.kind === 'failure' && ended.code !== 'dns_failed' && ended;
      },
      { what: 'another verdict' },
    );
    expect(result).toMatchObject(theirs);
    expect(receiver.connections).toEqual([]);
  });

  it('that say that there is no such name are not asked for the root', async () => {
    const dns = await startDns(
      (name) => (name.startsWith('empty') ? [] : 'NXDOMAIN'),
      () => 'silence',
    );
    const post = clientOf([dns.server]);
    expect(await post('nowhere.example.test')).toMatchObject(NOT_FOUND);
    expect(await post('empty.example.test')).toMatchObject(NOT_FOUND);
    expect(dns.questions.filter((question) => question.startsWith('NS'))).toEqual([]);
  });

  it('are asked for the root at most once a second, however many names fail', async () => {
    const dns = await startDns(
      () => 'SERVFAIL',
      () => 'SERVFAIL',
    );
    const post = clientOf([dns.server]);
    const startedAt = performance.now();
    for (let round = 0; round < 20; round++) {
      const names = Array.from({ length: 10 }, (_, nth) => post(`name${nth}.round${round}.test`));
      for (const result of await Promise.all(names)) expect(result).toMatchObject(OURS);
    }
    const seconds = Math.ceil((performance.now() - startedAt) / 1000);
    // Each time, the only server is asked as often as a lookup tries it.
    const asked = dns.questions.filter((question) => question.startsWith('NS')).length;
    expect(asked).toBeGreaterThanOrEqual(1);
    expect(asked).toBeLessThanOrEqual(2 * (seconds + 1));
  });

  it('are no reason to send a request after its deadline', async () => {
    const dns = await startDns(
      (_name, type, nth) => (type === 'AAAA' ? [] : nth === 1 ? 'silence' : [PUBLIC]),
      () => 'silence',
    );
    const post = clientOf([dns.server], 4000);
    expect(await post('receiver.example.test', 500)).toMatchObject(OURS);
    expect(receiver.requests).toEqual([]);
    expect(await post('receiver.example.test')).toMatchObject(OK);
  });

  it.each<[string, ReturnType<DnsScript> | null]>([
    ['is not there', null],
    ['is silent', 'silence'],
    ['answers SERVFAIL', 'SERVFAIL'],
  ])('of which one %s and the other one answers resolve names', async (_, bad) => {
    const answersRoot = bad === 'SERVFAIL' ? 'SERVFAIL' : 'silence';
    const server = bad
      ? (
          await startDns(
            () => bad,
            () => answersRoot,
          )
        ).server
      : `127.0.0.1:${await freePort()}`;
    const good = await startDns(addressOf((name) => (name.startsWith('receiver') ? [PUBLIC] : 'SERVFAIL')));
    const post = clientOf([server, good.server]);
    expect(await post('receiver.example.test')).toMatchObject(OK);
    expect(await post('broken.example.test')).toMatchObject({
      kind: 'failure',
      code: expect.stringMatching(/^dns_not_found$|^timeout$/),
    });
  });
});
