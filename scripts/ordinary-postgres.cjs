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
 * Starts a server on a free loopback port, with an empty cluster in its own folder, and with more settings.
 * @returns its url as superuser, the id of its main process, and `stop`, which stops it and deletes the folder
 */
async function startOrdinaryPostgres(more = {}) {
  const [folder, port] = [ordinaryFolder(), await freePort()];
  try {
    const data = join(folder, 'data');
    const password = initOrdinaryData(data);
    const child = await serveOrdinaryData(data, port, more);
    const stop = async () => {
      // Immediate shutdown, because its data is not used again.
      await endChild(child, 'SIGQUIT');
      remove(folder);
    };
    return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, pid: child.pid, stop };
  } catch (error) {
    remove(folder);
    throw error;
  }
}

/** Makes a temporary folder of the user that PostgreSQL runs as. */
function ordinaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'ordinary-postgres-'));
  own(folder);
  chmodSync(folder, 0o700);
  return folder;
}

/** Makes an empty cluster in a folder that does not exist yet. Returns the password of its superuser. */
function initOrdinaryData(data, password = randomBytes(16).toString('hex')) {
  const passwordFile = `${data}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  own(passwordFile);
  const args = [`-D${data}`, '-Upostgres', '-Ascram-sha-256', `--pwfile=${passwordFile}`, '-EUTF8', '--locale=C'];
  const { program, options } = ordinaryProgram('initdb');
  const made = spawnSync(program, args, { ...options, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  return password;
}

/** Starts a server on the data of a cluster. Resolves with its main process when it accepts connections. */
async function serveOrdinaryData(data, port, more = {}) {
  const settings = { ...more, listen_addresses: '127.0.0.1', port, unix_socket_directories: '' };
  const args = Object.entries(settings).map(([name, value]) => `-c${name}=${value}`);
  const { program, options } = ordinaryProgram('postgres');
  // Ctrl-C is handled by the caller, which then stops the server.
  const child = spawn(program, [`-D${data}`, ...args], { ...options, detached: true, stdio: 'ignore' });
  const until = Date.now() + STARTS_WITHIN_MS;
  while (!isReady(join(data, 'postmaster.pid'))) {
    if (child.exitCode !== null || Date.now() > until) {
      await endChild(child, 'SIGQUIT');
      throw new Error('The ordinary PostgreSQL did not start.');
    }
    await pause(50);
  }
  return child;
}

/** The path of a program of PostgreSQL, and the options to spawn it with: it refuses to run as root. */
function ordinaryProgram(name) {
  const bin = ordinaryPostgresBin();
  if (!bin)
    throw new Error('No PostgreSQL: install postgresql-15, or name the folder of its programs in POSTGRES_BIN.');
  return { program: join(bin, name), options: { ...ordinaryUser(), cwd: '/' } };
}

async function endChild(child, signal) {
  const ended = once(child, 'close');
  if (child.exitCode === null && child.signalCode === null && child.kill(signal)) await ended;
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

function own(path) {
  const user = ordinaryUser();
  if (user) chownSync(path, user.uid, user.gid);
}

const remove = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

module.exports = {
  ordinaryFolder,
  ordinaryPostgresBin,
  ordinaryProgram,
  initOrdinaryData,
  serveOrdinaryData,
  startOrdinaryPostgres,
};
