import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { isServerOf } from '../../../packages/embedded-postgres/src/postgres-process';
import { withStartLock } from '../../../packages/embedded-postgres/src/start-lock';
import { waitFor } from '../../support/wait-for';

/** Starts and stops like a service, in a process of its own, which cannot load TypeScript through jest. */
const SERVICE = `
const { readFileSync } = require('node:fs');
const ts = require('typescript');
const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2023, esModuleInterop: true };
require.extensions['.ts'] = (module, file) =>
  module._compile(ts.transpileModule(readFileSync(file, 'utf8'), { compilerOptions }).outputText, file);
const { lockForService, startEmbeddedPostgres } = require('./packages/embedded-postgres/src/embedded-postgres.ts');
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const dataDir = process.argv[1];
process.stdin.once('data', async () => {
  const embedded = await startEmbeddedPostgres({ dataDir });
  try {
    const lock = await lockForService(embedded, dataDir);
    say({ url: embedded.url, owned: embedded.owned });
    process.stdin.once('data', async () => {
      await lock.release();
      await embedded.stop();
      process.exit(0);
    });
  } catch (error) {
    await embedded.stop();
    say({ error: error.message });
    process.exit(1);
  }
});
say('loaded');
`;

interface Answer {
  url?: string;
  owned?: boolean;
  error?: string;
}

class Service {
  private readonly child: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  constructor(dataDir: string) {
    this.child = spawn(process.execPath, ['-e', SERVICE, dataDir], {
      cwd: resolve(__dirname, '../../..'),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.lines = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.child.pid!;
  }

  get exitCode(): number | null {
    return this.child.exitCode;
  }

  async hear(): Promise<Answer> {
    const { value, done } = await this.lines.next();
    if (done) throw new Error('The service ended without a word.');
    return JSON.parse(value) as Answer;
  }

  /** Starts when first called, stops when called again. */
  poke(): void {
    this.child.stdin!.write('go\n');
  }

  async start(): Promise<Answer> {
    await this.hear();
    this.poke();
    return this.hear();
  }

  async stop(): Promise<void> {
    this.poke();
    await this.ended();
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended();
  }

  async ended(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}

let root: string;
let dataDir: string;
let services: Service[];

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  await chmod(root, 0o755);
  dataDir = join(root, 'data');
  services = [];
});

afterEach(async () => {
  for (const service of services) await service.kill();
  const pid = await readServerPid();
  if (pid && (await isServerOf(pid, clusterFolder()))) process.kill(pid, 'SIGKILL');
  await waitFor(async () => !(await isServerOf(pid, clusterFolder())), { what: 'the end of the server' });
  await rm(root, { recursive: true, force: true, maxRetries: 5 });
});

const clusterFolder = () => join(dataDir, 'postgres');

async function readServerPid(): Promise<number> {
  return parseInt(await readFile(join(clusterFolder(), 'postmaster.pid'), 'utf8').catch(() => '0'), 10);
}

function service(): Service {
  const made = new Service(dataDir);
  services.push(made);
  return made;
}

async function query(url: string | undefined, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query({ text: sql, rowMode: 'array' }).finally(() => client.end());
  return rows.flat();
}

describe('a service with a data folder', () => {
  it('takes over the database of a killed service, and stops it at the end', async () => {
    const first = service();
    const before = await first.start();
    await query(before.url, 'create table kept as select 42 as n');
    const pid = await readServerPid();
    await first.kill();
    expect(await isServerOf(pid, clusterFolder())).toBe(true);

    const second = service();
    const after = await second.start();
    expect(after).toEqual({ url: before.url, owned: true });
    expect(await query(after.url, 'select n from kept')).toEqual([42]);
    await second.stop();
    expect(second.exitCode).toBe(0);
    expect(await isServerOf(pid, clusterFolder())).toBe(false);
  });

  it('fails with the pid of the service that already runs there, and does not disturb it', async () => {
    const first = service();
    const { url } = await first.start();
    const second = service();
    expect(await second.start()).toEqual({
      error: `Another process (pid ${first.pid}) already runs on ${dataDir}: stop it first, or set DATA_DIR or DATABASE_URL.`,
    });
    await second.ended();
    expect(await query(url, 'select 1')).toEqual([1]);
    await first.stop();
    expect(await readServerPid()).toBe(0);
  });

  it('runs once when it is started twice at the same time on a new folder', async () => {
    const both = [service(), service()];
    await Promise.all(both.map((one) => one.hear()));
    for (const one of both) one.poke();
    const answers = await Promise.all(both.map((one) => one.hear()));
    const winner = answers.findIndex(({ url }) => url);
    expect(answers[1 - winner]?.error).toMatch(
      `Another process (pid ${both[winner]?.pid}) already runs on ${dataDir}:`,
    );
    await both[1 - winner]?.ended();
    expect(await query(answers[winner]?.url, 'select 1')).toEqual([1]);
    await both[winner]?.stop();
    expect(await readServerPid()).toBe(0);
  });

  it('starts after another service was killed during its start', async () => {
    const first = service();
    await first.hear();
    first.poke();
    await waitFor(() => readFile(join(dataDir, 'postgres.password'), 'utf8'), { what: 'the first start', everyMs: 1 });
    await first.kill();
    expect(await readFile(join(dataDir, 'start.lock'), 'utf8')).toMatch(`${first.pid} `);
    const second = service();
    const { url, owned } = await second.start();
    expect(owned).toBe(true);
    expect(await query(url, 'select 1')).toEqual([1]);
    await second.stop();
  });

  it('ignores a start lock left by a dead process or by an earlier process with the same pid', async () => {
    for (const pid of [2147483646, process.pid]) {
      await writeFile(join(root, 'start.lock'), `${pid} left-behind`);
      expect(await withStartLock(root, () => Promise.resolve('in'))).toBe('in');
    }
  });

  it('starts only while no other one is starting', async () => {
    const order: string[] = [];
    const enter = (name: string) =>
      withStartLock(root, async () => {
        order.push(`${name} in`);
        await new Promise(setImmediate);
        order.push(`${name} out`);
      });
    await Promise.all(['a', 'b', 'c'].map(enter));
    for (let i = 0; i < order.length; i += 2) expect(order[i]?.slice(0, 1)).toBe(order[i + 1]?.slice(0, 1));
    expect(order).toHaveLength(6);
  });
});
