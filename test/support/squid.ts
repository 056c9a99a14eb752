import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capture, endProcess, freePort, hasExited } from './service';
import { waitFor } from './wait-for';

/** Debian's squid. */
export interface Squid {
  readonly port: number;
  /** The targets of all tunnels and refusals so far, each with its status: `127.0.0.1:80 200`. */
  requests(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts a squid on 127.0.0.2 that lets this user with this password reach 127.0.0.1. */
export async function startSquid(user: string, password: string): Promise<Squid> {
  const folder = await mkdtemp(join(tmpdir(), 'squid-'));
  // Started as root, it becomes the user `proxy`.
  await chmod(folder, 0o777);
  const port = await freePort();
  const hash = spawnSync('openssl', ['passwd', '-apr1', '-stdin'], { input: password }).stdout.toString().trim();
  await writeFile(join(folder, 'passwords'), `${user}:${hash}\n`);
  await writeFile(join(folder, 'squid.conf'), configOf(folder, port));
  const child = spawn('squid', ['-N', '-f', join(folder, 'squid.conf')], { stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = capture(child, ['stdout', 'stderr']);
  const stop = async () => {
    await endProcess(child, 'SIGKILL');
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await waitFor(() => hasExited(child) || accepts(port, child), { what: 'squid' });
    if (hasExited(child)) throw new Error(`squid ended with ${child.exitCode}. It printed:\n${printed()}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    requests: async () => {
      const lines = (await readFile(join(folder, 'access.log'), 'utf8')).split('\n');
      return lines.filter((line) => line !== '');
    },
    stop,
  };
}

const configOf = (folder: string, port: number): string => `
http_port 127.0.0.2:${port}
auth_param basic program /usr/lib/squid/basic_ncsa_auth ${join(folder, 'passwords')}
auth_param basic children 1 startup=1
auth_param basic utf8 on
acl known proxy_auth REQUIRED
acl allowed dst 127.0.0.1
http_access deny !CONNECT
http_access deny !known
http_access allow allowed
http_access deny all
logformat targets %ru %>Hs
access_log stdio:${join(folder, 'access.log')} logformat=targets
cache_log ${join(folder, 'cache.log')}
cache deny all
cache_mem 1 MB
max_filedescriptors 1024
pid_filename none
coredump_dir none
shutdown_lifetime 0 seconds
`;

function accepts(port: number, child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.2', () => resolve(!hasExited(child)));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });
}
