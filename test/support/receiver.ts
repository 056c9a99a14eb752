import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { PATIENCE_MS, waitFor } from './wait-for';

/** One request as it came in. */
export interface ReceivedCall {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The exact bytes. */
  body: Buffer;
  /** When the request's headers had arrived, in milliseconds since 1970. */
  receivedAt: number;
}

/** The response of a hook to one call: 200 without a body by default. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  delayMs?: number;
  /** Responds only after this has resolved. */
  after?: Promise<unknown>;
  /** Reads the request, then breaks the connection without a response. */
  drop?: boolean;
}

/** One address of the receiver, with a memory of its own. */
export interface Hook {
  readonly url: string;
  readonly calls: readonly ReceivedCall[];
  /** The nth answer goes to the nth call from the beginning; the last one is repeated for all that follow. */
  answer(...answers: Answer[]): void;
  /** Waits for at least `count` calls and returns the first `count`. */
  received(count: number): Promise<ReceivedCall[]>;
}

export interface Receiver {
  readonly url: string;
  /** A new address that no other test shares. */
  hook(...answers: Answer[]): Hook;
  stop(): Promise<void>;
}

/** A receiver on a free port for all tests of the file or describe block. */
export function useReceiver(): Pick<Receiver, 'hook'> {
  let receiver: Receiver | undefined;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver?.stop());
  return {
    hook: (...answers) => {
      if (!receiver) throw new Error('The receiver runs only while tests do.');
      return receiver.hook(...answers);
    },
  };
}

/** An HTTP server on 127.0.0.1 that records its requests and responds as configured. */
export async function startReceiver(): Promise<Receiver> {
  const hooks = new Map<string, { calls: ReceivedCall[]; answers: Answer[] }>();
  const server = createServer((request, response) => {
    const hook = hooks.get(new URL(request.url ?? '/', 'http://receiver').pathname);
    if (hook) void serve(hook, request, response).catch(() => response.destroy());
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    hook: (...answers) => {
      const path = `/hook-${hooks.size + 1}`;
      const hook = { calls: [] as ReceivedCall[], answers };
      hooks.set(path, hook);
      return {
        url: `${url}${path}`,
        calls: hook.calls,
        answer: (...later) => (hook.answers = later),
        received: (count) => waitForCalls(hook.calls, count),
      };
    },
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function serve(
  hook: { calls: ReceivedCall[]; answers: Answer[] },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '', url: path = '', headers } = request;
  const receivedAt = Date.now();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  hook.calls.push({ method, path, headers, body: Buffer.concat(chunks), receivedAt });
  const answer = hook.answers[Math.min(hook.calls.length, hook.answers.length) - 1] ?? {};
  await answer.after;
  if (answer.delayMs) await pause(answer.delayMs);
  if (answer.drop) request.socket.destroy();
  else response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
}

/** The time limit per call: ten times the usual duration when there are thousands of them. */
const PATIENCE_PER_CALL_MS = 20;

async function waitForCalls(calls: ReceivedCall[], count: number): Promise<ReceivedCall[]> {
  const what = `${count} calls of the receiver`;
  const timeoutMs = PATIENCE_MS + count * PATIENCE_PER_CALL_MS;
  await waitFor(() => calls.length >= count, { what, timeoutMs, everyMs: 5 });
  return calls.slice(0, count);
}
