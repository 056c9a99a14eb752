import { randomBytes } from 'node:crypto';
import { startProxy, type TcpProxy } from './proxy';
import { callRedis, startRedis } from './redis';

/** Two Redis servers behind one address, as a provider of managed ones runs them. */
export interface RedisPair {
  /** The address, which leads to the current primary. */
  readonly url: string;
  /** What the address leads through. */
  readonly network: TcpProxy;
  /** The first primary itself. */
  readonly directUrl: string;
  /**
   * Promotes the other server and moves the address to it. The former primary lives on as a replica that receives nothing,
   * and every open connection stays on it.
   */
  failOver(): Promise<void>;
  /** Runs a command on the current primary. */
  run(name: string, ...args: (string | number)[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** No server listens there. */
const NOWHERE = ['127.0.0.1', '1'] as const;

/** @param more options of redis.conf for both servers */
export async function startRedisPair(more: Record<string, string> = {}): Promise<RedisPair> {
  const requirepass = randomBytes(16).toString('hex');
  const options = { ...more, requirepass };
  let [primary, other] = [await startRedis(options), await startRedis(options)];
  const portOf = ({ url }: { url: string }) => Number(new URL(url).port);
  const address = await startProxy(portOf(primary));
  await callRedis(other.url, 'REPLICAOF', NOWHERE);
  return {
    url: `redis://:${requirepass}@127.0.0.1:${address.port}`,
    network: address,
    directUrl: primary.url,
    failOver: async () => {
      await callRedis(other.url, 'REPLICAOF', ['NO', 'ONE']);
      await callRedis(primary.url, 'REPLICAOF', NOWHERE);
      address.retarget(portOf(other));
      [primary, other] = [other, primary];
    },
    run: (name, ...args) => callRedis(primary.url, name, args),
    stop: async () => {
      await address.stop();
      await Promise.all([primary.stop(), other.stop()]);
    },
  };
}
