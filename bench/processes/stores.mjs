// The stores of the bench: an embedded PostgreSQL with its durable settings (fsync, synchronous_commit), or with
// BENCH_POSTGRES=ordinary a separate server with its own defaults (scripts/ordinary-postgres.cjs), and a redis-server
// that appends to its log every second. Both listen on free loopback ports and are removed afterwards.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import ordinary from '../../scripts/ordinary-postgres.cjs';
import { migrate } from '../../dist/src/infrastructure/database/migrator.setup.js';
import { startEmbeddedPostgres } from '@webhook-notification/embedded-postgres';

const TEMPLATE = 'bench_template';

export class Stores {
  #folder;
  /** @type {{ url: string, stop: () => Promise<void> }} */
  #postgres;
  #redis;

  async start() {
    this.#folder = await mkdtemp(join(tmpdir(), 'webhook-bench-'));
    // PostgreSQL may run as another user.
    await chmod(this.#folder, 0o755);
    this.#postgres =
      process.env.BENCH_POSTGRES === 'ordinary'
        ? await ordinary.startOrdinaryPostgres()
        : await startEmbeddedPostgres({ dataDir: join(this.#folder, 'postgres') });
    await this.#administrate(`create database ${TEMPLATE}`);
    await migrate(this.#urlOf(TEMPLATE));
    this.#redis = await startRedis(this.#folder);
  }

  /** Names of the queue stores that this machine has. */
  get queues() {
    return this.#redis ? ['redis', 'postgres'] : ['postgres'];
  }

  /** Creates empty stores: a new database, and an empty Redis when the queue is on Redis. */
  async fresh(queue) {
    const name = `bench_${randomBytes(6).toString('hex')}`;
    await this.#administrate(`create database ${name} template ${TEMPLATE}`);
    const pool = new pg.Pool({ connectionString: this.#urlOf(name), max: 1 });
    pool.on('error', () => undefined);
    if (queue === 'redis') await this.#redis.client.flushall();
    return {
      settings: { DATABASE_URL: this.#urlOf(name), REDIS_URL: queue === 'redis' ? this.#redis.url : '' },
      redisPid: queue === 'redis' ? this.#redis.pid : undefined,
      query: async (sql, parameters) => (await pool.query(sql, parameters)).rows,
      drop: async () => {
        await pool.end();
        await this.#administrate(`drop database ${name} with (force)`);
      },
    };
  }

  async stop() {
    await this.#redis?.stop();
    await this.#postgres?.stop();
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #urlOf(database) {
    const url = new URL(this.#postgres.url);
    url.pathname = `/${database}`;
    return url.href;
  }

  async #administrate(sql) {
    const client = new pg.Client({ connectionString: this.#postgres.url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }
}

/** Returns undefined on a machine without redis-server. */
async function startRedis(dir) {
  const port = await freePort();
  const password = randomBytes(16).toString('hex');
  const url = `redis://:${password}@127.0.0.1:${port}`;
  const options = { bind: '127.0.0.1', port, requirepass: password, dir, save: '', appendonly: 'yes' };
  const args = Object.entries({ ...options, 'maxmemory-policy': 'noeviction' });
  const child = spawn(
    'redis-server',
    args.flatMap(([name, value]) => [`--${name}`, String(value)]),
    // Ctrl-C is handled by the bench, which then stops its stores in order.
    { stdio: 'ignore', detached: true },
  );
  const isThere = await once(child, 'spawn').then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const client = new Redis(url, { retryStrategy: (tries) => (tries > 100 ? null : 100) });
  client.on('error', () => undefined);
  await client.ping();
  const stop = async () => {
    client.disconnect();
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  };
  return { url, client, stop, pid: child.pid };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}
