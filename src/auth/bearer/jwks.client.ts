import type { SecureContext } from 'node:tls';
import { Logger } from '@nestjs/common';
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import { Agent, buildConnector, request } from 'undici';
import type { EgressProxy } from '../../infrastructure/destinations/egress-proxy';
import { authorityOf, trusting, Tunnels } from '../../infrastructure/destinations/tunnels.client';
import { untraced } from '../../infrastructure/destinations/http.client';
import { ApiError, MESSAGES, retryLater } from '../../infrastructure/errors/api-error';

const MAX_BYTES = 524_288;

export interface JwksTimings {
  timeoutMs: number;
  /** Minimum time between two fetches, regardless of the key ids in tokens. */
  cooldownMs: number;
  /** Older keys are fetched again in the background, so that withdrawn keys are dropped. */
  refreshAfterMs: number;
}

const TIMINGS: JwksTimings = { timeoutMs: 5000, cooldownMs: 5000, refreshAfterMs: 300_000 };

/**
 * Public keys of the identity provider. Fetched keys stay in use while the provider is down. Without any key, requests
 * fail with 503, because the provider's failure says nothing about the token. The provider's address is not validated,
 * because the operator sets it.
 */
export class JwksClient {
  private readonly logger = new Logger(JwksClient.name);
  private readonly keySet: ReturnType<typeof createRemoteJWKSet>;
  /** Absent: undici's own. */
  private readonly dispatcher?: Agent;
  private fetchedAt = 0;
  private failedAt = 0;

  constructor(
    url: string,
    private readonly timings: JwksTimings = TIMINGS,
    trustedCertificates: readonly string[] | null = null,
    proxy: EgressProxy | null = null,
  ) {
    const secureContext = trustedCertificates ? trusting(trustedCertificates) : undefined;
    if (proxy) this.dispatcher = new Agent({ connect: connectorThrough(proxy, timings.timeoutMs, secureContext) });
    else if (secureContext) this.dispatcher = new Agent({ connect: { secureContext } });
    const { timeoutMs: timeoutDuration, cooldownMs: cooldownDuration } = timings;
    const options = { timeoutDuration, cooldownDuration, cacheMaxAge: Infinity };
    this.keySet = createRemoteJWKSet(new URL(url), {
      ...options,
      [customFetch]: (at, { signal }) => this.fetch(at, signal),
    });
  }

  /**
   * Returns the key that a token was signed with.
   * @throws ApiError 503 when the key must be fetched and the provider is unavailable; otherwise an error of jose
   */
  readonly keyFor: JWTVerifyGetKey = async (header, token) => {
    if (this.fetchedAt > 0 && Date.now() - this.fetchedAt > this.timings.refreshAfterMs)
      void this.keySet.reload().catch(() => undefined);
    return this.keySet(header, token);
  };

  private async fetch(url: string, signal: AbortSignal): Promise<Response> {
    if (Date.now() - this.failedAt < this.timings.cooldownMs) throw unavailable();
    try {
      const keys = await fetchJson(url, signal, this.dispatcher);
      this.fetchedAt = Date.now();
      return Response.json(keys);
    } catch (error) {
      this.failedAt = Date.now();
      this.logger.warn(`Fetching the keys at AUTH_JWKS_URL failed; the next request retries: ${reasonOf(error)}`);
      throw unavailable();
    }
  }
}

function connectorThrough(
  proxy: EgressProxy,
  timeoutMs: number,
  secureContext?: SecureContext,
): buildConnector.connector {
  const tunnels = new Tunnels(proxy, secureContext);
  const addTls = buildConnector({ secureContext, timeout: timeoutMs });
  return (options, callback) => {
    tunnels.open(authorityOf(options), performance.now() + timeoutMs, { phase: 'proxy' }).then(
      (socket) =>
        options.protocol === 'https:' ? addTls({ ...options, httpSocket: socket }, callback) : callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}

const unavailable = (): ApiError => retryLater('unavailable', MESSAGES.identityProviderUnavailable);

async function fetchJson(url: string, signal: AbortSignal, dispatcher?: Agent): Promise<unknown> {
  const options = { dispatcher, signal, headers: { accept: 'application/json' } };
  const { statusCode, body } = await untraced(() => request(url, options));
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  const keySet = JSON.parse(Buffer.concat(chunks).toString()) as { keys?: unknown } | null;
  const isKeySet = Array.isArray(keySet?.keys) && keySet.keys.every((key) => typeof key === 'object' && key !== null);
  if (!isKeySet) throw new Error('not a JSON Web Key Set');
  return keySet;
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'not JSON';
  return String((error as { code?: unknown }).code ?? (error as Error).message);
}
