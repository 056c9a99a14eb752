import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Api, dataOf, exchange } from '../../support/api';
import { describeWithSmallDisk } from '../stage/small-disk';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { type Hook, useReceiver } from '../../support/receiver';
import {
  capture,
  defaultSettings,
  freePort,
  hasExited,
  runServiceFile,
  serviceFile,
  type Settings,
} from '../../support/service';
import { waitFor } from '../../support/wait-for';

const TOKEN = `wns_${'a'.repeat(43)}`;
const STARTED = { queue: 'films', jobId: '1', name: 'render', attempt: 1, startedAt: '2026-11-20T10:00:00.000Z' };

interface Surroundings {
  stdout?: number | 'pipe' | 'ignore';
  stderr?: 'pipe' | 'ignore';
  /** Open files, sockets included. */
  descriptors?: number;
  settings?: Settings;
}

interface Running {
  child: ChildProcess;
  url: string;
  api: Api;
}

describe('The service', () => {
  const receiver = useReceiver();
  let database: TestDatabase;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    database = await cloneDatabase();
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await waitFor(() => children.every(hasExited), { what: 'the end of the services' });
    await database.drop();
  });

  /** Starts it with little of something, and waits until it is ready. */
  async function start({
    stdout = 'ignore',
    stderr = 'ignore',
    descriptors = 4096,
    settings = {},
  }: Surroundings): Promise<Running> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = { PATH: process.env.PATH, ...defaultSettings(database.url, TOKEN), ...settings, PORT: String(port) };
    const limited = ['-c', `ulimit -n ${descriptors} && exec "$0" "$@"`, process.execPath];
    const child = spawn('sh', [...limited, serviceFile('src/main.js')], { env, stdio: ['ignore', stdout, stderr] });
    children.push(child);
    await waitFor(() => isReady(url), { what: 'a service that is ready' });
    return { child, url, api: new Api(url, TOKEN) };
  }

  const isReady = async (url: string): Promise<boolean> =>
    (await exchange(url, 'GET', '/health/ready').catch(() => null))?.status === 200;

  async function expectCleanEnd({ child }: Running): Promise<void> {
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  }

  async function subscribe(api: Api): Promise<Hook> {
    const hook = receiver.hook();
    await dataOf(api.createWebhook({ url: hook.url, events: ['job.started'] }), 201);
    return hook;
  }

  /** Publishes until so many are accepted, and answers their ids. What is refused meanwhile is asked for again. */
  async function publish(api: Api, count: number): Promise<Set<string>> {
    const accepted = new Set<string>();
    const one = async () => {
      const reply = await api.publish({ event: 'job.started', data: STARTED }).catch(() => null);
      if (reply?.status === 202) accepted.add((await dataOf(Promise.resolve(reply), 202)).id);
    };
    const all = async () => {
      await Promise.all(Array.from({ length: 10 }, one));
      return accepted.size >= count;
    };
    await waitFor(all, { what: `${count} accepted events` });
    return accepted;
  }

  const expectArrivals = (hook: Hook, ids: Set<string>): Promise<unknown> =>
    waitFor(() => [...ids].every((id) => hook.calls.some(({ headers }) => headers['webhook-id'] === id)), {
      what: 'every accepted event',
    });

  it.each(['a full disk below its log', 'nobody who reads its log'])('goes on with %s', async (what) => {
    const isFull = what.includes('disk');
    const full = isFull ? openSync('/dev/full', 'w') : 'pipe';
    const running = await start({ stdout: full });
    if (typeof full === 'number') closeSync(full);
    running.child.stdout?.destroy();
    // Each of them is a line.
    for (let i = 0; i < 200; i++) expect((await running.api.me()).status).toBe(200);
    await expectCleanEnd(running);
  });

  it('goes on with few file descriptors, when more connections come than it has', async () => {
    const running = await start({ descriptors: 128 });
    const hook = await subscribe(running.api);
    const { port } = new URL(running.url);
    const sockets: Socket[] = Array.from({ length: 300 }, () =>
      connect(Number(port), '127.0.0.1').on('error', () => undefined),
    );
    await waitFor(() => sockets.every((socket) => !socket.connecting), { what: 'the connections' });
    const requests = sockets.map((socket) => socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n'));
    expect(requests).toHaveLength(300);
    for (const socket of sockets) socket.destroy();
    await expectArrivals(hook, await publish(running.api, 20));
    await expectCleanEnd(running);
  });

  it('goes on with little memory, when large batches come', async () => {
    const running = await start({ settings: { NODE_OPTIONS: '--max-old-space-size=96', EVENT_MAX_BYTES: '262144' } });
    const hook = await subscribe(running.api);
    const data = { ...STARTED, note: 'x'.repeat(50_000) };
    const events = Array.from({ length: 100 }, () => ({ event: 'job.started', data }));
    const ids = new Set<string>();
    for (let i = 0; i < 5; i++) {
      for (const { id } of await dataOf(running.api.publishBatch({ events }), 202)) ids.add(id);
    }
    await expectArrivals(hook, ids);
    await expectCleanEnd(running);
  });

  describeWithSmallDisk('with its data on a disk of its own', (disk) => {
    it.each([
      ['goes on when that is full', 'ignore'],
      ['goes on when that is full, and its log is there too', 'log'],
    ] as const)('%s, and loses nothing that it accepted', async (_, where) => {
      const { folder, fill, makeRoom } = disk();
      const stdout = where === 'log' ? openSync(join(folder, 'log'), 'a') : 'ignore';
      const running = await start({ stdout, settings: { DATABASE_URL: undefined, DATA_DIR: join(folder, 'data') } });
      if (typeof stdout === 'number') closeSync(stdout);
      const hook = await subscribe(running.api);
      const before = await publish(running.api, 20);
      fill();
      const data = { ...STARTED, note: 'x'.repeat(9000) };
      const isRefused = async () => (await running.api.publish({ event: 'job.started', data })).status >= 500;
      await waitFor(isRefused, { what: 'a refusal' });
      expect((await exchange(running.url, 'GET', '/health/live')).status).toBe(200);
      makeRoom();
      await expectArrivals(hook, new Set([...before, ...(await publish(running.api, 20))]));
      await expectCleanEnd(running);
      rmSync(join(folder, 'data'), { recursive: true });
    });

    it('ends while that is full, and does not say that it did not start', async () => {
      const { folder, fill, makeRoom } = disk();
      const dataDir = join(folder, 'data');
      const running = await start({ stderr: 'pipe', settings: { DATABASE_URL: undefined, DATA_DIR: dataDir } });
      const stderr = capture(running.child, ['stderr']);
      fill();
      const data = { ...STARTED, note: 'x'.repeat(9000) };
      const isRefused = async () => (await running.api.publish({ event: 'job.started', data })).status >= 500;
      await waitFor(isRefused, { what: 'a refusal' });
      await expectCleanEnd(running);
      // When the full disk has ended PostgreSQL, lines about its restarts come before.
      expect(stderr()).not.toMatch(/^(It did not start|ENOSPC|The service has stopped)/m);
      expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
      makeRoom();
      rmSync(dataDir, { recursive: true });
    });

    it('does not start while that is full, says so, and starts as soon as there is room', async () => {
      const { folder, fill, makeRoom } = disk();
      const dataDir = join(folder, 'data');
      mkdirSync(dataDir);
      fill();
      const settings = { ...defaultSettings('', TOKEN), DATABASE_URL: undefined, DATA_DIR: dataDir };
      const { exitCode, stdout, stderr } = await runServiceFile('src/main.js', [], settings);
      expect({ exitCode, said: `${stdout}${stderr}` }).toEqual({ exitCode: 1, said: expect.stringMatching(/ENOSPC/) });
      expect(readdirSync(dataDir)).not.toContain('start.lock');
      makeRoom();
      await expectCleanEnd(await start({ settings: { DATABASE_URL: undefined, DATA_DIR: dataDir } }));
      rmSync(dataDir, { recursive: true });
    });
  });
});
