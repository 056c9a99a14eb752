import { jwtVerify } from 'jose';
import { JwksClient } from '../../../src/auth/bearer/jwks.client';
import {
  type IdentityProvider,
  makeKey,
  sign,
  type SigningKey,
  startIdentityProvider,
} from '../../support/identity-provider';
import { waitFor } from '../../support/wait-for';

const PATIENT = { timeoutMs: 10_000, cooldownMs: 0, refreshAfterMs: 1_000_000 };
const QUICK = { ...PATIENT, timeoutMs: 300 };

describe('The keys of an identity provider', () => {
  let key: SigningKey;
  let provider: IdentityProvider;

  beforeEach(async () => {
    key = await makeKey('first');
    provider = await startIdentityProvider(key);
  });
  afterEach(() => provider.stop());

  const verify = async (client: JwksClient) => (await jwtVerify(await sign(key), client.keyFor)).payload.sub;
  const status = (client: JwksClient) =>
    verify(client).then(
      () => 200,
      (error: { status?: number; code?: string }) => error.status ?? error.code,
    );

  it.each<[string, Parameters<IdentityProvider['answer']>[0]]>([
    ['an error', (_, response) => response.writeHead(500).end('{"keys":[]}')],
    ['a redirect', (_, response) => response.writeHead(301, { location: 'http://127.0.0.1:1/' }).end()],
    ['a body that is not JSON', (_, response) => response.end('<html>')],
    ['JSON without a list of keys', (_, response) => response.end('{"keys":"none"}')],
    ['invalid keys', (_, response) => response.end('{"keys":["none"]}')],
    ['too many bytes', (_, response) => response.end(JSON.stringify({ keys: [], x: 'x'.repeat(600_000) }))],
    ['a broken connection', (request) => request.socket.destroy()],
    ['no response', () => undefined],
    ['a body that never ends', (_, response) => void response.writeHead(200).write('{')],
  ])('are unavailable after %s, and are fetched again', async (_, listener) => {
    const client = new JwksClient(provider.url, QUICK);
    provider.answer(listener);
    expect(await status(client)).toBe(503);
    provider.publish(key);
    await waitFor(async () => (await status(client)) === 200, { what: 'the keys' });
  });

  it.each(['', '<html>', '{"keys":["none"]}'])('are not fetched again soon after the response %j', async (body) => {
    const client = new JwksClient(provider.url, { ...PATIENT, cooldownMs: 60_000 });
    provider.answer((_, response) => response.end(body));
    for (let i = 0; i < 5; i++) expect(await status(client)).toBe(503);
    expect(provider.fetches()).toBe(1);
  });

  it('are fetched once for many concurrent tokens', async () => {
    const client = new JwksClient(provider.url, PATIENT);
    await Promise.all(Array.from({ length: 20 }, () => verify(client)));
    expect(provider.fetches()).toBe(1);
  });

  it('remain valid while the provider is down, however old they are', async () => {
    const client = new JwksClient(provider.url, { ...PATIENT, refreshAfterMs: 0 });
    await verify(client);
    provider.answer((request) => request.socket.destroy());
    for (let i = 0; i < 3; i++) expect(await status(client)).toBe(200);
  });

  it('are dropped at the next refresh when the provider has removed them', async () => {
    const client = new JwksClient(provider.url, { ...PATIENT, refreshAfterMs: 0 });
    await verify(client);
    provider.publish(await makeKey('other'));
    await waitFor(async () => (await status(client)) === 'ERR_JWKS_NO_MATCHING_KEY', { what: 'the refusal' });
  });
});
