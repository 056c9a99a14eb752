import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { noRoute } from '../../infrastructure/errors/api-error';
import type { TryReceiversService } from './test-receivers.service';

const MAX_BODY_BYTES = 65_536;
/** ASCII control characters except tab and line breaks: each takes six bytes as JSON, and is unreadable. */
const CONTROL = /(?![\t\n\r\u007f-\u009f])\p{Cc}/gu;
export const TRY_PATH = '/try/';
/** Keeps a browser on this path from showing or running anything. */
const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};

/** Serves `POST /try/<id>` with any type of body. Other methods and unknown ids return 404. */
export function serveTryReceivers(server: FastifyInstance, receivers: TryReceiversService): void {
  void server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.all<{ Params: { id: string } }>(`${TRY_PATH}:id`, async (request, reply) => {
      const receiver = request.method === 'POST' ? receivers.find(request.params.id) : undefined;
      if (!receiver) throw noRoute(request.method, request.url);
      const receivedAt = new Date();
      const { body, bodyTruncated } = await firstOf(request.raw);
      const headers = request.headers as Record<string, string | string[]>;
      const answer = receivers.note(receiver, { receivedAt, headers, body, bodyTruncated });
      if (answer !== 'silent') return reply.status(answer).headers(HEADERS).send('');
      await receivers.stayAway(goneOf(reply));
      return reply.status(503).headers(HEADERS).send('');
    });
  });
}

async function firstOf(raw: IncomingMessage): Promise<{ body: string; bodyTruncated: boolean }> {
  const parts: Buffer[] = [];
  let kept = 0;
  let bytes = 0;
  for await (const part of raw as AsyncIterable<Buffer>) {
    bytes += part.length;
    const rest = part.subarray(0, MAX_BODY_BYTES - kept);
    if (rest.length > 0) parts.push(rest);
    kept += rest.length;
  }
  const body = Buffer.concat(parts).toString().replaceAll(CONTROL, '\ufffd');
  return { body, bodyTruncated: bytes > MAX_BODY_BYTES };
}

function goneOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  return gone.signal;
}
