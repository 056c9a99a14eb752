import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { Redis } from 'ioredis';
import { freePort, hasExited } from './service';
import { waitFor } from './wait-for';

export interface TestRedis {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a new Redis on a free port, which writes nothing to disk and evicts nothing, with more options of redis.conf. */
export async function startRedis(more: Record<string, string> = {}, triesLeft = 5): Promise<TestRedis> {
  const port = await freePort();
  // The password distinguishes this server from another one that has taken the port in the meantime.
  const password = more.requirepass ?? randomBytes(16).toString('hex');
  const child = spawn('redis-server', optionsFor(port, password, more), { stdio: 'ignore' });
  const stop = async () => {
    child.kill('SIGKILL');
    await waitFor(() => hasExited(child), { what: 'the end of redis-server' });
  };
  try {
    const what = `redis-server on port ${port}`;
    await waitFor(async () => hasExited(child) || (await letsIn(port, password)), { what });
  } catch (error) {
    await stop();
    throw error;
  }
  if (!hasExited(child)) return { url: `redis://:${password}@127.0.0.1:${port}`, stop };
  if (triesLeft > 1) return startRedis(more, triesLeft - 1);
  throw new Error('redis-server ends as soon as it is started.');
}

/** Runs one command over a connection of its own. */
export async function callRedis(url: string, name: string, args: readonly (string | number)[]): Promise<unknown> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await redis.call(name, ...args);
  } finally {
    redis.disconnect();
  }
}

function optionsFor(port: number, password: string, more: Record<string, string>): string[] {
  const options = { bind: '127.0.0.1', save: '', appendonly: 'no', 'maxmemory-policy': 'noeviction', ...more };
  return Object.entries({ ...options, port: String(port), requirepass: password }).flatMap(([name, value]) => [
    `--${name}`,
    value,
  ]);
}

/** Whether a Redis on this port accepts the password. */
export function letsIn(port: number, password: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`AUTH ${password}\r\n`));
    socket.on('error', reject);
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(answer.toString().startsWith('+OK'));
    });
  });
}
