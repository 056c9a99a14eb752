import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export const ISSUER = 'https://id.example/';
export const AUDIENCE = 'webhook-notification-service';

export interface SigningKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: Record<string, unknown>;
}

/** An identity provider: an HTTP server that publishes keys. */
export interface IdentityProvider {
  readonly url: string;
  /** How often its keys were fetched. */
  fetches(): number;
  /** Publishes exactly these keys from now on. */
  publish(...keys: SigningKey[]): void;
  /** Responds like this from now on, instead of with its keys. */
  answer(listener: RequestListener): void;
  stop(): Promise<void>;
}

export async function startIdentityProvider(...keys: SigningKey[]): Promise<IdentityProvider> {
  let fetches = 0;
  const keySet = (published: SigningKey[]): RequestListener => {
    const body = JSON.stringify({ keys: published.map(({ publicJwk }) => publicJwk) });
    return (_, response) => response.setHeader('content-type', 'application/json').end(body);
  };
  let listener = keySet(keys);
  const server = createServer((request, response) => {
    fetches++;
    listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    fetches: () => fetches,
    publish: (...published) => (listener = keySet(published)),
    answer: (other) => (listener = other),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export async function makeKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** Signs a valid JWT of alice with these claims added or replaced; undefined omits a claim. */
export function sign(key: SigningKey, claims: JWTPayload = {}, header: Record<string, unknown> = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const usual = { iss: ISSUER, aud: AUDIENCE, sub: 'alice', scope: 'webhooks:read', iat: now, exp: now + 600 };
  return new SignJWT({ ...usual, ...claims })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
    .sign(key.privateKey);
}
