import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Client } from 'pg';
import { migrate } from '../../../src/infrastructure/database/migrator.setup';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import {
  capture,
  endProcess,
  freePort,
  hasExited,
  runServiceFile,
  type Settings,
  spawnFile,
} from '../../support/service';
import { defaultSettings, serviceFile, serviceNode } from '../../support/service';
import { PATIENCE_MS, waitFor } from '../../support/wait-for';

const TOKEN = `wns_${'A'.repeat(43)}`;

let root: string;
beforeAll(() => (root = mkdtempSync(join(tmpdir(), 'starts-'))));
afterAll(() => rmSync(root, { recursive: true }));

/** A server that accepts connections and never answers. */
let silent: Server;
let silentPort: number;
beforeAll(async () => {
  silentPort = await freePort();
  silent = createServer((socket) => socket.on('error', () => undefined).resume()).listen(silentPort, '127.0.0.1');
});
afterAll(() => void silent.close());

const start = (settings: Settings) => runServiceFile('src/main.js', [], { HOST: '127.0.0.1', PORT: '0', ...settings });

describe('A start that cannot succeed', () => {
  it.each<[string, () => string, RegExp]>([
    ['below /proc', () => '/proc/a', /^The data folder \/proc\/a cannot be used \(ENOENT\): set DATA_DIR/],
    ['deep below /proc', () => '/proc/a/b/c', /^The data folder \/proc\/a\/b\/c cannot be used/],
    ['below a file', () => '/dev/null/a', /cannot be used \((ENOTDIR|EEXIST)\): set DATA_DIR/],
    ['in a file', () => fileOf('file'), /cannot be used \(ENOTDIR\): set DATA_DIR/],
    [
      'with a named pipe for a key',
      () => pipeAt(join(root, 'key'), 'secrets.key'),
      /\(secrets\.key in it is no file\): set DATA_DIR/,
    ],
    [
      'with a named pipe for the lock',
      () => pipeAt(join(root, 'lock'), 'start.lock'),
      /\(start\.lock in it is no file\)/,
    ],
  ])('ends with a sentence where the data is %s', async (_, dataDir, sentence) => {
    const { exitCode, stderr } = await start({ DATA_DIR: dataDir() });
    expect(stderr).toMatch(sentence);
    expect(exitCode).toBe(1);
  });

  it.each<[string, () => unknown, string]>([
    ['a folder', () => mkdirSync(join(root, 'with-folder', '.env'), { recursive: true }), 'with-folder'],
    ['a named pipe', () => pipeAt(join(root, 'with-pipe'), '.env'), 'with-pipe'],
  ])('ends with a sentence when .env is %s', (_, make, folder) => {
    make();
    const { exitCode, stderr } = startIn(join(root, folder), {});
    expect(stderr).toContain('.env in the working folder must be a file that this process can read');
    expect(exitCode).toBe(1);
  });

  it('ends when the database accepts connections, and never answers', async () => {
    const { exitCode, stderr } = await start(defaultSettings(`postgres://a:b@127.0.0.1:${silentPort}/c`, TOKEN));
    expect(stderr).toMatch(/^The database of DATABASE_URL cannot be used: timeout expired/);
    expect(exitCode).toBe(1);
  });

  it('names a variable that is almost a setting, also in .env, and warns of other unknown names there', () => {
    const folder = join(root, 'misspelled');
    mkdirSync(folder);
    writeFileSync(join(folder, '.env'), 'DATABSE_URL=postgres://127.0.0.1/canary\nPOSTGRES_PASSWORD=canary\n');
    const { exitCode, stderr } = startIn(folder, { LOG_LEVLE: 'info' });
    expect(stderr).toContain('DATABSE_URL is no setting. Rename it to DATABASE_URL');
    expect(stderr).toContain('LOG_LEVLE is no setting. Rename it to LOG_LEVEL');
    expect(stderr).not.toContain('canary');
    expect(exitCode).toBe(1);
  });
});

describe('A signal during a start', () => {
  /** Sends the signal once the probe is true, and returns what the process then does. */
  async function endAfter(signal: NodeJS.Signals, settings: Settings, isTime: () => boolean | Promise<boolean>) {
    const child = spawnFile(serviceFile('src/main.js'), [], { HOST: '127.0.0.1', PORT: '0', ...settings });
    const said = capture(child, ['stdout', 'stderr']);
    await waitFor(async () => hasExited(child) || (await isTime()), { what: 'the moment of the signal' });
    const exitCode = await endProcess(child, signal);
    return { exitCode, said: said() };
  }

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s ends the wait for the lock of a data folder',
    async (signal) => {
      const dataDir = join(root, `locked-${signal}`);
      mkdirSync(dataDir, { mode: 0o755 });
      // Its process lives: it is the one that runs the tests.
      writeFileSync(join(dataDir, 'start.lock'), `${process.pid} foreign`);
      writeFileSync(join(dataDir, 'postgres.password'), 'secret');
      // The start closes the folder to others just before it waits.
      const isWaiting = () => (statSync(dataDir).mode & 0o777) !== 0o755;
      const { exitCode, said } = await endAfter(signal, { DATA_DIR: dataDir }, isWaiting);
      expect(said).toBe(`Ended by ${signal} before the start was complete.\n`);
      expect(exitCode).toBe(0);
    },
  );

  it('ends the wait for a database', async () => {
    let isConnected = false;
    silent.once('connection', () => (isConnected = true));
    const settings = defaultSettings(`postgres://a:b@127.0.0.1:${silentPort}/c`, TOKEN);
    const { exitCode, said } = await endAfter('SIGTERM', settings, () => isConnected);
    expect(said).toContain('Ended by SIGTERM before the start was complete.');
    expect(exitCode).toBe(0);
  });

  it('leaves no PostgreSQL behind, also when a terminal is closed', async () => {
    const dataDir = join(root, 'embedded');
    const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'info' };
    const child = spawnFile(serviceFile('src/main.js'), [], { HOST: '127.0.0.1', PORT: '0', ...settings });
    const said = capture(child, ['stdout']);
    await waitFor(() => said().includes('Health'), { what: 'the service' });
    expect(await endProcess(child, 'SIGHUP')).toBe(0);
    const record = join(dataDir, 'postgres.location');
    const cluster = existsSync(record) ? readFileSync(record, 'utf8').trim() : join(dataDir, 'postgres');
    expect(readdirSync(cluster)).toContain('PG_VERSION');
    expect(readdirSync(cluster)).not.toContain('postmaster.pid');
    if (cluster !== join(dataDir, 'postgres')) rmSync(dirname(cluster), { recursive: true });
  });
});

describe('The lock of migrations', () => {
  let database: TestDatabase;
  beforeAll(async () => void (database = await cloneDatabase()));
  afterAll(() => database.drop());

  it('is awaited for a time, and a sentence then says how to find its holder', async () => {
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    await holder.query(`select pg_advisory_lock(hashtext('webhook_service.migrations'))`);
    await expect(migrate(database.url, 0)).rejects.toThrow(
      'Another process has been migrating the database for minutes',
    );
    await holder.end();
    await migrate(database.url);
  });
});

/** Runs a start in another working folder. */
function startIn(cwd: string, settings: Settings) {
  const env = { PATH: process.env.PATH, ...settings };
  const options = { cwd, env, encoding: 'utf8', timeout: PATIENCE_MS } as const;
  const { status, stderr } = spawnSync(serviceNode(), [resolve(serviceFile('src/main.js'))], options);
  return { exitCode: status, stderr };
}

const fileOf = (name: string): string => {
  writeFileSync(join(root, name), '');
  return join(root, name);
};

function pipeAt(folder: string, name: string): string {
  mkdirSync(folder);
  execFileSync('mkfifo', [join(folder, name)]);
  return folder;
}
