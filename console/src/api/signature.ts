// The library's diagnosis, with the browser's own HMAC. Only this file imports the library, and only parts of it that need
// no Node.
import {
  type DiagnosisOptions,
  type Finding,
  type Findings,
  findingsOf,
  type SignatureFinding,
} from '../../../packages/webhook-notification/src/signature/diagnosis';
import type {
  Mistake,
  MistakeCode,
  ReceivedRequest,
} from '../../../packages/webhook-notification/src/signature/signature-search';

export type { Finding, Findings, Mistake, MistakeCode, ReceivedRequest, SignatureFinding };

/** Whether this page can compute signatures. Browsers allow it with https and on localhost only. */
export const canVerify = (): boolean => isSecureContext;

/**
 * Computes why the signatures of a request match or not, in this page alone.
 * @throws DOMException `AbortError` after the signal
 */
export async function verifyInPage(
  request: ReceivedRequest,
  options: DiagnosisOptions,
  signal: AbortSignal,
): Promise<Findings> {
  const keys = new Map<Uint8Array, Promise<CryptoKey>>();
  const search = findingsOf(request, options);
  let step = search.next();
  while (!step.done) {
    const { key, parts } = step.value;
    const known = keys.get(key) ?? importKey(key);
    keys.set(key, known);
    const digest = await crypto.subtle.sign('HMAC', await known, joined(parts));
    signal.throwIfAborted();
    step = search.next(new Uint8Array(digest));
  }
  return step.value;
}

/** HMAC pads a key with zeros: one of them is the empty key, which browsers refuse. */
const importKey = (key: Uint8Array): Promise<CryptoKey> =>
  crypto.subtle.importKey(
    'raw',
    key.length === 0 ? new Uint8Array(1) : new Uint8Array(key),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
