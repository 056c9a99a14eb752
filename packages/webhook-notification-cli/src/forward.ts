import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { ApiSchema } from 'webhook-notification';

type Message = ApiSchema<'Message'>;

/** The outcome of forwarding a message. */
export interface Forwarded {
  /** Null without a response. */
  responseStatus: number | null;
  /** Up to the status line. */
  durationMs: number;
  /** The reason of the failure, as a sentence; null after a 2xx. */
  failure: string | null;
}

export interface ForwardOptions {
  /** Timeout up to the status line, in ms. */
  timeoutMs: number;
  /** Aborts the request. */
  signal: AbortSignal;
}

/** Headers of the connection, which Node.js sets. */
const OF_THE_CONNECTION = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive']);
/** As long as the service reads one: a server may log an error when its response is cut off. */
const READ_BODY_MS = 1000;

/** Posts a message to the local server with the leased headers and body. Follows no redirect. Never throws. */
export async function forward(to: URL, message: Message, options: ForwardOptions): Promise<Forwarded> {
  const { timeoutMs, signal } = options;
  const startedAt = performance.now();
  const ended = new AbortController();
  const [late, stop] = [`Your server did not answer within ${timeoutMs / 1000} s.`, () => ended.abort(INTERRUPTED)];
  const timer = setTimeout(() => ended.abort(late), timeoutMs);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    const responseStatus = await statusOf(to, message, ended.signal);
    return { responseStatus, durationMs: since(startedAt), failure: failureOf(responseStatus) };
  } catch (error) {
    const failure = ended.signal.aborted ? String(ended.signal.reason) : reasonOf(error, to);
    return { responseStatus: null, durationMs: since(startedAt), failure };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

const INTERRUPTED = 'listen ended before your server answered.';
const since = (startedAt: number): number => Math.round(performance.now() - startedAt);

function statusOf(to: URL, { headers, body }: Message, signal: AbortSignal): Promise<number> {
  const bytes = Buffer.from(body);
  const own = Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()));
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = (to.protocol === 'https:' ? requestHttps : requestHttp)(to, {
      method: 'POST',
      headers: { ...Object.fromEntries(own), 'content-length': bytes.length },
      // A new connection each time: development servers restart often, which breaks idle ones.
      agent: false,
    });
    const breakOff = () => sent.destroy();
    signal.addEventListener('abort', breakOff);
    if (signal.aborted) breakOff();
    sent.on('response', (response: IncomingMessage) => {
      signal.removeEventListener('abort', breakOff);
      discardBody(response);
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.on('close', () => reject(new Error('The connection was closed without an answer.')));
    sent.end(bytes);
  });
}

function discardBody(response: IncomingMessage): void {
  const timer = setTimeout(() => response.destroy(), READ_BODY_MS);
  response.on('close', () => clearTimeout(timer));
  response.on('error', () => undefined);
  response.resume();
}

function failureOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  const isRedirect = status >= 300 && status < 400;
  return `Your server answered ${status}${isRedirect ? '; redirects are not followed' : ''}.`;
}

/** Returns a sentence for an error code of Node.js or OpenSSL. */
function reasonOf(error: unknown, to: URL): string {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string' || code === 'ECONNRESET') return 'Your server closed the connection without an answer.';
  if (code === 'ECONNREFUSED') return `Nothing listens at ${to.origin} (${code}).`;
  if (code.startsWith('HPE_')) return `Your server's answer is not valid HTTP (${code}).`;
  if (/CERT|LEAF/.test(code)) return `Your server's certificate is not trusted (${code}). See NODE_EXTRA_CA_CERTS.`;
  if (/SSL|EPROTO/.test(code)) return `TLS with your server failed (${code}).`;
  return `Your server could not be reached (${code}).`;
}
