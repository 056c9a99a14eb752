import type { Server } from 'node:http';

/** Longer than a request is on its way from a proxy. */
const LINGER_MS = 200;

/**
 * Stops accepting connections at once, and keeps idle ones for 200 ms: a proxy may already have sent a request on one of them, and
 * reports an error if it is closed, because it must not repeat a POST. Call it before anything else begins to close: the first
 * answer that ends its connection makes the proxy open another one, which would be reset.
 */
export function stopAccepting(server: Server): void {
  const [close, closeIdleConnections] = [server.close.bind(server), server.closeIdleConnections.bind(server)];
  server.closeIdleConnections = () => void setTimeout(closeIdleConnections, LINGER_MS).unref();
  close();
  // Without the error that it is closed already. It waits for all connections, as the first call does.
  server.close = (done) => close(() => done?.());
}
