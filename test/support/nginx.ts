import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Identity } from './hostile-certificates';
import { capture, endProcess, freePort, hasExited } from './service';
import { waitFor } from './wait-for';

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export interface Nginx {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts nginx with deploy/nginx/webhooks.conf on a free port of 127.0.0.1, in front of processes on these ports. */
export async function startNginx(ports: readonly [string, string], { cert, key }: Identity): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-service-nginx-'));
  // Its workers run as another user when root starts it.
  await chmod(folder, 0o755);
  const port = await freePort();
  const paths = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), main: join(folder, 'nginx.conf') };
  await writeFile(paths.cert, cert);
  await writeFile(paths.key, key, { mode: 0o600 });
  await writeFile(join(folder, 'webhooks.conf'), await configuration(port, ports, paths));
  const temporary = TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  const include = `${temporary} include ${folder}/webhooks.conf;`;
  await writeFile(
    paths.main,
    `daemon off; pid ${folder}/pid; error_log stderr warn; events {} http { access_log off; ${include} }`,
  );
  await mkdir(join(folder, 'logs'));
  const child = spawn('nginx', ['-p', folder, '-c', paths.main], { stdio: ['ignore', 'pipe', 'pipe'] });
  const logs = capture(child, ['stderr']);
  const stop = async () => {
    await endProcess(child, 'SIGTERM');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  await waitFor(async () => hasExited(child) || (await accepts(port)), { what: `nginx on port ${port}` });
  if (hasExited(child)) throw new Error(`nginx ends as soon as it is started: ${logs()}`);
  return { port, stop };
}

/** The committed file, with the addresses and certificates of a test. */
async function configuration(port: number, ports: readonly [string, string], paths: Identity): Promise<string> {
  const text = await readFile('deploy/nginx/webhooks.conf', 'utf8');
  return text
    .replace('listen 443 ', `listen 127.0.0.1:${port} `)
    .replace(/^ *listen \[::\].*$/m, '')
    .replace(/ssl_certificate .*/, `ssl_certificate ${paths.cert};`)
    .replace(/ssl_certificate_key .*/, `ssl_certificate_key ${paths.key};`)
    .replace('127.0.0.1:3000', `127.0.0.1:${ports[0]}`)
    .replace('127.0.0.1:3001', `127.0.0.1:${ports[1]}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', reject);
  });
}
