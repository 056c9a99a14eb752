import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { letsIn } from './redis';
import { freePort, hasExited } from './service';
import { waitFor } from './wait-for';

export interface TestSentinels {
  /** All Sentinels in the format of `REDIS_URL`. */
  readonly url: string;
  /** A url of the current master alone. */
  masterUrl(): Promise<string>;
  /** Kills the current master, and resolves with the time in ms until the Sentinels have made the replica the master. */
  failOver(): Promise<number>;
  stop(): Promise<void>;
}

const MASTER = 'main';
const SENTINELS = 3;
const QUORUM = 2;

/**
 * A Redis, a replica of it and three Sentinels on free ports; the Sentinels have a password of their own.
 * @param tls lines of redis.conf with certificates; then clients and servers connect with TLS
 */
export async function startSentinels(tls?: readonly string[]): Promise<TestSentinels> {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-service-sentinels-'));
  const [password, sentinelPassword] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
  const servers = new Map<number, ChildProcess>();
  const start = async (lines: string[], secret: string, ...args: string[]) => {
    // The test itself speaks without TLS.
    const [own, port] = [await freePort(), await freePort()];
    const file = join(folder, `${port}.conf`);
    const ports = tls ? [`port ${own}`, `tls-port ${port}`, 'tls-replication yes', ...tls] : [`port ${port}`];
    const common = [...ports, 'bind 127.0.0.1', `dir ${folder}`, `requirepass ${secret}`];
    await writeFile(file, [...common, ...lines, ''].join('\n'));
    const server = spawn('redis-server', [file, ...args], { stdio: 'ignore' });
    servers.set(port, server);
    const plain = tls ? own : port;
    const isUp = async () => hasExited(server) || (await letsIn(plain, secret));
    await waitFor(isUp, { what: `redis-server on port ${port}` });
    if (hasExited(server)) throw new Error(`redis-server on port ${port} ends as soon as it is started.`);
    return { port, plain };
  };
  const stop = async () => {
    await Promise.all([...servers.values()].map(kill));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const redis = ['save ""', `masterauth ${password}`, 'maxmemory-policy noeviction', 'repl-diskless-sync-delay 0'];
    const { port: first } = await start(redis, password);
    await start([...redis, `replicaof 127.0.0.1 ${first}`], password);
    const watching = [
      `sentinel monitor ${MASTER} 127.0.0.1 ${first} ${QUORUM}`,
      `sentinel auth-pass ${MASTER} ${password}`,
      `sentinel sentinel-pass ${sentinelPassword}`,
      `sentinel down-after-milliseconds ${MASTER} 4000`,
      `sentinel failover-timeout ${MASTER} 5000`,
    ];
    const ports: { port: number; plain: number }[] = [];
    for (let i = 0; i < SENTINELS; i++) ports.push(await start(watching, sentinelPassword, '--sentinel'));
    const sentinels = ports.map(({ plain }) => new Sentinel(plain, sentinelPassword));
    const know = async () => (await Promise.all(sentinels.map((sentinel) => sentinel.knowsAll()))).every(Boolean);
    await waitFor(know, { what: 'Sentinels that know each other and the replica', everyMs: 100 });
    const masterPort = async () => (await sentinels[0]!.master()).port;
    const hosts = ports.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return {
      url: `${tls ? 'rediss' : 'redis'}+sentinel://:${password}@${hosts}/${MASTER}?sentinelPassword=${sentinelPassword}`,
      masterUrl: async () => `redis://:${password}@127.0.0.1:${await masterPort()}`,
      failOver: async () => {
        const [port, startedAt] = [await masterPort(), Date.now()];
        await kill(servers.get(port));
        await waitFor(async () => (await masterPort()) !== port, { what: 'another master' });
        return Date.now() - startedAt;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

class Sentinel {
  constructor(
    private readonly port: number,
    private readonly password: string,
  ) {}

  /** The master by the name of the field, such as `num-slaves`. */
  async master(): Promise<{ port: number; fields: Map<string, string> }> {
    const redis = new Redis(this.port, '127.0.0.1', { password: this.password, retryStrategy: () => null });
    redis.on('error', () => undefined);
    try {
      const found = (await redis.call('SENTINEL', 'MASTER', MASTER)) as string[];
      const fields = new Map<string, string>();
      for (let i = 0; i < found.length; i += 2) fields.set(found[i]!, found[i + 1]!);
      return { port: Number(fields.get('port')), fields };
    } finally {
      redis.disconnect();
    }
  }

  async knowsAll(): Promise<boolean> {
    const { fields } = await this.master();
    return fields.get('num-slaves') === '1' && fields.get('num-other-sentinels') === String(SENTINELS - 1);
  }
}

async function kill(server: ChildProcess | undefined): Promise<void> {
  if (!server || hasExited(server)) return;
  server.kill('SIGKILL');
  await waitFor(() => hasExited(server), { what: 'the end of redis-server' });
}
