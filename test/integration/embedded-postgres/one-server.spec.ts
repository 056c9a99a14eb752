import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { createCluster } from '../../../packages/embedded-postgres/src/cluster';
import {
  attachEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../packages/embedded-postgres/src/embedded-postgres';
import { preparePostgresBinaries } from '../../../packages/embedded-postgres/src/postgres-binaries';
import { nobodyIn, postgresUserIn } from '../../../packages/embedded-postgres/src/postgres-user';
import { giveTo } from '../../../packages/embedded-postgres/src/system-user';
import { isServerOf } from '../../../packages/embedded-postgres/src/postgres-process';
import { freePort } from '../../support/service';
import { waitFor } from '../../support/wait-for';

let root: string;
let dataDir: string;
let opened: EmbeddedPostgres[];

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  // mkdtemp creates it with mode 0700, which only one test needs.
  await chmod(root, 0o755);
  dataDir = join(root, 'data');
  opened = [];
});

afterEach(async () => {
  for (const { folder } of opened) {
    const pid = await readPid(folder);
    if (pid && (await isServerOf(pid, folder))) process.kill(pid, 'SIGKILL');
    // The children of a killed server need a moment to end.
    await nothingRunsIn(folder);
    if (folder.startsWith(root)) continue;
    await rm(dirname(folder), { recursive: true, force: true });
    await rmdir(dirname(dirname(folder))).catch(() => undefined);
  }
  await rm(root, { recursive: true, force: true, maxRetries: 5 });
});

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, ...options });
  opened.push(postgres);
  return postgres;
}

async function attach(): Promise<EmbeddedPostgres> {
  const postgres = await attachEmbeddedPostgres({ dataDir });
  opened.push(postgres);
  return postgres;
}

/** Returns the notes, except those about the user of a server that root has started. */
function notesOnPlaces({ notes }: EmbeddedPostgres): string[] {
  return notes.filter((note) => !/nobody|chown/.test(note));
}

async function query(postgres: EmbeddedPostgres, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: postgres.url });
  // A server that is killed ends its connections with an error.
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query({ text: sql, rowMode: 'array' }).finally(() => client.end());
  return rows.flat();
}

async function readPid(folder: string): Promise<number> {
  return parseInt(await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '0'), 10);
}

/** Returns the server and its children, which all run in its folder; nothing on systems without /proc. */
async function processesIn(folder: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const found = [];
  for (const pid of names.map(Number).filter(Boolean)) {
    if ((await readlink(`/proc/${pid}/cwd`).catch(() => '')) === folder) found.push(pid);
  }
  return found;
}

/** A process that has ended keeps its folder until the kernel has closed its files. */
async function nothingRunsIn(folder: string): Promise<void> {
  const isEmpty = async () => (await processesIn(folder)).length === 0;
  await waitFor(isEmpty, { what: 'the end of every process' });
}

async function killServer({ folder }: EmbeddedPostgres): Promise<void> {
  const pid = await readPid(folder);
  process.kill(pid, 'SIGKILL');
  await waitFor(async () => !(await isServerOf(pid, folder)), { what: 'the end of the killed server' });
}

describe('the embedded PostgreSQL', () => {
  it('starts in a new folder, and is durable, in UTC and, unlike with the C locale, lowercases É', async () => {
    const postgres = await start();
    expect(postgres).toMatchObject({ owned: true, folder: join(dataDir, 'postgres') });
    expect(notesOnPlaces(postgres)).toEqual([]);
    expect(
      await query(
        postgres,
        `select current_database(), current_setting('fsync'), current_setting('synchronous_commit'),
           current_setting('timezone'), current_setting('jit'), current_setting('max_connections'),
           current_setting('server_encoding'), lower('É'), 'Z' < 'a'`,
      ),
    ).toEqual(['webhook_service', 'on', 'on', 'UTC', 'off', '200', 'UTF8', 'é', true]);
    await postgres.stop();
  });

  it('listens only on 127.0.0.1, requires a password, and keeps that password private', async () => {
    const postgres = await start();
    const settings = `select current_setting('listen_addresses'), current_setting('unix_socket_directories')`;
    expect(await query(postgres, settings)).toEqual(['127.0.0.1', '']);
    const wrong = new URL(postgres.url);
    wrong.password = 'wrong';
    await expect(query({ ...postgres, url: wrong.href }, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    for (const name of ['postgres.password', 'postgres.log']) {
      expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
    }
    expect((await stat(dataDir)).mode & 0o066).toBe(0);
    await postgres.stop();
  });

  it('leaves nothing running when it is stopped, even twice', async () => {
    const postgres = await start();
    const pid = await readPid(postgres.folder);
    await Promise.all([postgres.stop(), postgres.stop()]);
    await postgres.stop();
    expect(await isServerOf(pid, postgres.folder)).toBe(false);
    await nothingRunsIn(postgres.folder);
    expect((await readdir(dataDir)).sort()).toEqual(['claims', 'postgres', 'postgres.log', 'postgres.password']);
  });

  it('keeps its data until the next start', async () => {
    const first = await start();
    await query(first, 'create table kept as select 42 as n');
    await first.stop();
    const second = await start();
    expect(await query(second, 'select n from kept')).toEqual([42]);
    await second.stop();
  });

  it('starts again with its data after a kill -9, and reports the unexpected end', async () => {
    const reasons: string[] = [];
    const first = await start({ port: await freePort(), onExit: (reason) => reasons.push(reason) });
    await query(first, 'create table kept as select 42 as n');
    const pid = await readPid(first.folder);
    await killServer(first);
    await waitFor(() => reasons.length > 0, { what: 'the report of its end' });
    expect(reasons[0]).toMatch(`PostgreSQL (pid ${pid}) has ended by itself:`);

    const second = await start({ port: first.port });
    expect(second).toMatchObject({ owned: true, url: first.url });
    expect(await query(second, 'select n from kept')).toEqual([42]);
    await first.stop();
    expect(await query(second, 'select n from kept')).toEqual([42]);
    await second.stop();
    await nothingRunsIn(second.folder);
    expect(reasons).toHaveLength(1);
  });

  it('starts although another process has the pid of the killed server', async () => {
    const first = await start();
    await query(first, 'create table kept as select 42 as n');
    await killServer(first);
    const file = join(first.folder, 'postmaster.pid');
    // PostgreSQL itself considers only processes of its own user that are not its ancestors.
    const { uid, gid } = await stat(first.folder);
    const stranger = spawn('sleep', ['60'], { uid, gid, stdio: 'ignore' });
    try {
      await writeFile(file, (await readFile(file, 'utf8')).replace(/^\d+/, String(stranger.pid)));
      const second = await start();
      expect(await query(second, 'select n from kept')).toEqual([42]);
      await second.stop();
    } finally {
      stranger.kill();
    }
  });

  it('uses another port when the requested one is in use', async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
    const { port } = squatter.address() as AddressInfo;
    try {
      const postgres = await start({ port });
      expect(postgres.port).not.toBe(port);
      expect(await query(postgres, 'select 1')).toEqual([1]);
      await postgres.stop();
    } finally {
      squatter.close();
    }
  });

  it('repeats an initdb that was killed halfway', async () => {
    const leftover = join(dataDir, 'postgres.new-0123456789ab', 'cluster');
    await mkdir(leftover, { recursive: true });
    await chmod(dataDir, 0o755);
    await writeFile(join(leftover, 'PG_VERSION'), '18\n');
    await writeFile(join(dataDir, 'postgres.password'), 'the-password-of-the-first-attempt\n', { mode: 0o600 });
    const postgres = await start();
    expect(await query(postgres, 'select 1')).toEqual([1]);
    expect((await readdir(dataDir)).filter((name) => name.startsWith('postgres.new-'))).toEqual([]);
    await postgres.stop();
  });

  it('includes the end of its log in the error when it cannot start', async () => {
    const postgres = await start();
    await postgres.stop();
    await writeFile(join(postgres.folder, 'postgresql.conf'), 'nonsense = 1\n');
    await expect(start()).rejects.toThrow(/did not start in [^]*unrecognized configuration parameter "nonsense"/);
  });

  it('refuses a database whose password is lost instead of creating a new one', async () => {
    const postgres = await start();
    await postgres.stop();
    await rm(join(dataDir, 'postgres.password'));
    await expect(start()).rejects.toThrow(/has lost its password: restore postgres\.password in /);
  });

  it('sets a large log aside', async () => {
    await mkdir(dataDir, { mode: 0o755 });
    await writeFile(join(dataDir, 'postgres.log'), 'x'.repeat(2 * 1024 * 1024));
    const postgres = await start();
    expect((await stat(join(dataDir, 'postgres.log'))).size).toBeLessThan(10_000);
    await postgres.stop();
  });

  it('stores the data elsewhere, and reports where, when PostgreSQL cannot access the folder of root', async () => {
    const closed = join(root, 'closed');
    await mkdir(closed, { mode: 0o700 });
    dataDir = join(closed, 'data');
    const isRoot = process.getuid?.() === 0;
    const first = await start();
    expect(first.folder.startsWith(dataDir)).toBe(!isRoot);
    expect(notesOnPlaces(first)).toEqual(isRoot ? [expect.stringContaining(`the database is in ${first.folder}`)] : []);
    await query(first, 'create table kept as select 42 as n');
    await first.stop();
    const second = await start();
    expect(second.folder).toBe(first.folder);
    expect(await query(second, 'select n from kept')).toEqual([42]);
    await second.stop();
  });
});

// PostgreSQL runs as the user of the tests, unless that is root.
if (process.getuid?.() === 0) {
  describe('the embedded PostgreSQL started by root', () => {
    const passwd = readFileSync('/etc/passwd', 'utf8');
    const ownerOf = async (postgres: EmbeddedPostgres) => (await stat(postgres.folder)).uid;

    it('runs as a user of its own when there is one', async () => {
      const postgres = await start();
      expect(await ownerOf(postgres)).toBe(postgresUserIn(passwd).uid);
      await postgres.stop();
    });

    it('continues as the user nobody when that user owns the data, and reports the consequences', async () => {
      const before = await start();
      await query(before, 'create table kept as select 42 as n');
      await before.stop();
      await giveTo(nobodyIn(passwd), before.folder);
      const postgres = await start();
      expect(await ownerOf(postgres)).toBe(nobodyIn(passwd).uid);
      expect(await query(postgres, 'select n from kept')).toEqual([42]);
      expect(postgres.notes).toEqual([
        'PostgreSQL runs as nobody, because it refuses to run as root: every other program of nobody can read the data.',
        `To change that, stop the service, create the user webhook-notification, and run: chown -R webhook-notification: ${postgres.folder}`,
      ]);
      await postgres.stop();
    });
  });
}

// Only root may start a program as another user.
if (process.getuid?.() === 0) {
  it('says what to do about a user without a name, which initdb does not accept', async () => {
    const user = { uid: 12345, gid: 0 };
    const { initdb } = await preparePostgresBinaries(root, user);
    await mkdir(dataDir);
    const created = createCluster({ folder: join(dataDir, 'postgres'), initdb, password: 'canary', user });
    await expect(created).rejects.toThrow(
      'PostgreSQL cannot run as user 12345, who has no name on this machine, as under OpenShift: set DATABASE_URL to another ' +
        'PostgreSQL, run as a user in /etc/passwd (docker run --user node), or add the user: ' +
        "echo 'webhooks:x:12345:0::/:/sbin/nologin' >> /etc/passwd",
    );
    expect(await readdir(dataDir)).toEqual([]);
  });
}

describe('a command', () => {
  it('uses a running database and does not stop it', async () => {
    const service = await start();
    const command = await attach();
    expect(command).toMatchObject({ owned: false, url: service.url });
    await command.stop();
    expect(await query(service, 'select 1')).toEqual([1]);
    await service.stop();
  });

  it('starts a database if none runs, and stops it', async () => {
    const command = await attach();
    expect(command.owned).toBe(true);
    expect(await query(command, 'select 1')).toEqual([1]);
    await command.stop();
    await nothingRunsIn(command.folder);
  });

  it('leaves the database that it started to a service that has attached to it', async () => {
    const command = await attach();
    const service = await start();
    await command.stop();
    expect(await query(service, 'select 1')).toEqual([1]);
    await service.stop();
    await nothingRunsIn(service.folder);
  });
});
