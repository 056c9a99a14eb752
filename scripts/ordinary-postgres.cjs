// Starts a PostgreSQL as operators run it, for the tests and the bench: the programs of Debian's postgresql-15, or
// those in POSTGRES_BIN, with their own defaults (JIT on, 128 MB of buffers, autovacuum once a minute).
const { spawn, spawnSync } = require('node:child_process');
const { randomBytes } = require('node:crypto');
const { once } = require('node:events');
const { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:net');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { setTimeout: pause } = require('node:timers/promises');

const STARTS_WITHIN_MS = 120_000;
/** The status in line 8 of `postmaster.pid` once it accepts connections. */
const READY = /^ready\s*$/;

/** Returns the folder of its programs; undefined where there are none. */
function ordinaryPostgresBin() {
  const bin = process.env.POSTGRES_BIN || '/usr/lib/postgresql/15/bin';
  return existsSync(join(bin, 'initdb')) ? bin : undefined;
}

/**
 * Starts a server on a free loopback port, with an empty cluster in its own folder.
 * @returns its url as superuser, the id of its main process, and `stop`, which stops it and deletes the folder
 */
async function startOrdinaryPostgres() {
  const bin = ordinaryPostgresBin();
  if (!bin)
    throw new Error('No PostgreSQL: install postgresql-15, or name the folder of its programs in POSTGRES_BIN.');
  const [folder, port, password] = [mkdtempSync(join(tmpdir(), 'ordinary-postgres-')), await freePort(), randomText()];
  const [data, passwordFile] = [join(folder, 'data'), join(folder, 'password')];
  const user = ordinaryUser();
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user) for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);
  chmodSync(folder, 0o700);
  const initdb = [`-D${data}`, '-Upostgres', '-Ascram-sha-256', `--pwfile=${passwordFile}`, '-EUTF8', '--locale=C'];
  const made = spawnSync(join(bin, 'initdb'), initdb, { ...user, cwd: '/', encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '' };
  const args = Object.entries(settings).map(([name, value]) => `-c${name}=${value}`);
  // Ctrl-C is handled by the caller, which then stops the server.
  const child = spawn(join(bin, 'postgres'), [`-D${data}`, ...args], {
    ...user,
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const stop = async () => {
    const ended = once(child, 'close');
    // Immediate shutdown, because its data is not used again.
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGQUIT')) await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const until = Date.now() + STARTS_WITHIN_MS;
  while (!isReady(join(data, 'postmaster.pid'))) {
    if (child.exitCode !== null || Date.now() > until) {
      await stop();
      throw new Error('The ordinary PostgreSQL did not start.');
    }
    await pause(50);
  }
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, pid: child.pid, stop };
}

function isReady(file) {
  return existsSync(file) && READY.test(readFileSync(file, 'utf8').split('\n')[7] ?? '');
}

/** PostgreSQL refuses to run as root. Undefined: the user of this process. */
function ordinaryUser() {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const [, , uid, gid] = (users.find((line) => /^postgres:/.test(line)) ?? 'nobody:x:65534:65534').split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

const randomText = () => randomBytes(16).toString('hex');

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

module.exports = { ordinaryPostgresBin, startOrdinaryPostgres };
