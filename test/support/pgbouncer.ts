import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { databaseUrl } from './postgres';
import { capture, freePort, hasExited } from './service';
import { waitFor } from './wait-for';

export type PoolMode = 'session' | 'transaction' | 'statement';

/** Lines of pgbouncer.ini. */
export type PgBouncerSettings = Record<string, string | number>;

export interface PgBouncer {
  /** The url that leads to the same database through the pooler. */
  urlOf(databaseUrl: string): string;
  /** Kills it, and starts it again on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** PgBouncer refuses to run as root, and Debian installs it where only root looks for programs. */
const SPAWNED = {
  ...(process.getuid?.() === 0 && { uid: 65_534, gid: 65_534 }),
  env: { PATH: `${process.env.PATH}:/usr/sbin` },
  cwd: '/',
};

/** Returns a function that starts a PgBouncer in front of the test server, which ends with its test. */
export function usePgBouncer(): (mode: PoolMode, settings?: PgBouncerSettings) => Promise<PgBouncer> {
  let pooler: PgBouncer | undefined;
  afterEach(async () => {
    await pooler?.stop();
    pooler = undefined;
  });
  return async (mode, settings) => (pooler = await startPgBouncer(databaseUrl('postgres'), mode, settings));
}

/** Starts a PgBouncer with its own defaults on a free port, in front of the server of this url. */
async function startPgBouncer(serverUrl: string, mode: PoolMode, settings: PgBouncerSettings = {}): Promise<PgBouncer> {
  if (spawnSync('pgbouncer', ['--version'], SPAWNED).error) throw new Error('No PgBouncer: install pgbouncer.');
  const folder = await mkdtemp(join(tmpdir(), 'webhook-service-pgbouncer-'));
  const port = await freePort();
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(folder, 'users'),
    pool_mode: mode,
    ...settings,
  };
  const ini = ['[databases]', `* = host=${hostname} port=${serverPort}`, '[pgbouncer]'];
  await writeFile(join(folder, 'users'), `"${username}" "${decodeURIComponent(password)}"\n`);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    [...ini, ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`), ''].join('\n'),
  );
  await chmod(folder, 0o755);
  const urlOf = (databaseUrl: string) => Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${port}` }).href;
  let child: ChildProcess;
  const start = async () => {
    child = spawn('pgbouncer', [join(folder, 'pgbouncer.ini')], { ...SPAWNED, stdio: 'pipe' });
    const log = capture(child, ['stdout', 'stderr']);
    await waitFor(() => hasExited(child) || answers(urlOf(serverUrl)), { what: `PgBouncer on port ${port}` });
    if (hasExited(child)) throw new Error(`PgBouncer ends as soon as it is started: ${log()}`);
  };
  const stop = async () => {
    await end(child);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { urlOf, restart: () => end(child).then(start), stop };
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('select 1');
  await client.end();
  return true;
}

async function end(child: ChildProcess): Promise<void> {
  if (hasExited(child)) return;
  const ended = once(child, 'close');
  child.kill('SIGKILL');
  await ended;
}
