import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** How much of an unread body is read, and for how long. */
export interface DrainBounds {
  drainBytes: number;
  drainMs: number;
}

/**
 * Reads and drops the rest of a body whose response, such as a 413, is ready early. Closing a connection while its
 * client writes resets it, and the client never sees the response. That happens only beyond the limits.
 */
export function drainUnreadBodies(server: FastifyInstance, bounds: DrainBounds): void {
  server.addHook('onSend', ({ raw }, reply, _payload, done) => {
    const hasBody = raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length']) > 0;
    if (!hasBody || raw.complete || raw.destroyed) return done();
    return void drain(raw, bounds).then(() => {
      if (!raw.complete) reply.header('connection', 'close');
      done();
    });
  });
}

function drain(request: IncomingMessage, { drainBytes, drainMs }: DrainBounds): Promise<void> {
  return new Promise((resolve) => {
    let left = drainBytes;
    const finish = () => {
      clearTimeout(timer);
      request.off('data', drop).off('end', finish).off('close', finish).off('error', finish);
      if (!request.complete) request.pause();
      resolve();
    };
    const drop = (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) finish();
    };
    const timer = setTimeout(finish, drainMs);
    request.on('data', drop).on('end', finish).on('close', finish).on('error', finish).resume();
  });
}
