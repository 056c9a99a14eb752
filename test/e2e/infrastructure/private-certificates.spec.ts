import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api, dataOf } from '../../support/api';
import { makeAuthority } from '../../support/hostile-certificates';
import { type HostileReceiver, useHostileReceivers } from '../../support/hostile-receiver';
import { AUDIENCE, ISSUER, makeKey, sign, type SigningKey } from '../../support/identity-provider';
import { type Settings, startService } from '../../support/service';

const authority = makeAuthority('private authority');
const other = makeAuthority('another authority');

describe('Servers with certificates of a private authority', () => {
  const startReceiver = useHostileReceivers();
  let folder: string;
  let key: SigningKey;
  let receiver: HostileReceiver;
  let provider: HostileReceiver;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'certificates-'));
    key = await makeKey('first');
    const serve = (type: string, body: string) =>
      startReceiver({
        tls: authority.issue('127.0.0.1'),
        onRequest: (socket) =>
          socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: ${type}\r\n\r\n${body}`),
      });
    receiver = await serve('text/plain', 'ok');
    provider = await serve('application/json', JSON.stringify({ keys: [key.publicJwk] }));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** What a test delivery ends with, and the status of a request with a JWT. */
  async function outcomesWith(settings: Settings): Promise<[string | undefined, number]> {
    const jwts = { AUTH_JWKS_URL: provider.url, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE };
    const service = await startService({ ...jwts, ...settings });
    try {
      const webhook = await dataOf(service.api.createWebhook({ url: receiver.url, events: ['*'] }), 201);
      const { status, error } = await dataOf(service.api.testWebhook(webhook.id));
      const { status: ofJwt } = await new Api(service.url, await sign(key)).me();
      return [error?.code ?? status, ofJwt];
    } finally {
      await service.stop();
    }
  }

  it('are not trusted by themselves', async () => {
    expect(await outcomesWith({})).toEqual(['tls_invalid', 503]);
  });

  async function fileOf(name: string, content: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }

  it('are trusted with that authority in EGRESS_CA_FILE, also beside others', async () => {
    const path = await fileOf('authorities.pem', `A comment\n${other.cert}\n${authority.cert}\n`);
    expect(await outcomesWith({ EGRESS_CA_FILE: path })).toEqual(['succeeded', 200]);
  });

  it('stay trusted by NODE_EXTRA_CA_CERTS when EGRESS_CA_FILE has another authority, but not on Node.js 20', async () => {
    const NODE_EXTRA_CA_CERTS = await fileOf('node.pem', authority.cert);
    const EGRESS_CA_FILE = await fileOf('other.pem', other.cert);
    expect(await outcomesWith({ NODE_EXTRA_CA_CERTS })).toEqual(['succeeded', 200]);
    const expected = process.version.startsWith('v20.') ? ['tls_invalid', 503] : ['succeeded', 200];
    expect(await outcomesWith({ NODE_EXTRA_CA_CERTS, EGRESS_CA_FILE })).toEqual(expected);
  });
});
