import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api, dataOf } from '../../support/api';
import { freePort, hasExited } from '../../support/service';
import { waitFor } from '../../support/wait-for';

const EVENTS = [
  'follower.gained',
  'follower.lost',
  'job.completed',
  'job.started',
  'job.started',
  'operation.complete',
  // At the webhook for all events, and as a message in the channel.
  'operation.failed',
  'operation.failed',
];

let folder: string;
let demo: ChildProcess;
let output: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'demo-test-'));
  await chmod(folder, 0o755);
  output = '';
});

function start(script: string, settings: Record<string, string> = {}): void {
  const { PATH, HOME } = process.env;
  demo = spawn(process.execPath, [join(__dirname, '../../../scripts', script)], {
    env: { PATH, HOME, TMPDIR: folder, DATABASE_URL: 'postgres://not.the.demos/business', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  demo.stdout?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
}

afterEach(async () => {
  demo.kill('SIGTERM');
  await waitFor(() => hasExited(demo), { what: 'the end of the demo' });
  await rm(folder, { recursive: true, force: true });
});

const ended = () => waitFor(() => hasExited(demo), { what: 'the end of the demo', timeoutMs: 240_000 });

/** Returns the processes with the demo's folder in their command line; none on systems other than Linux. */
async function processesLeft(): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(folder));
}

async function expectNothingLeft(): Promise<void> {
  // A process that has ended remains visible until the kernel has closed its files.
  await waitFor(async () => (await processesLeft()).length === 0, { what: 'the end of every process' });
  expect(await readdir(folder)).toEqual([]);
}

describe('The demo', () => {
  it('shows the deliveries of two jobs and two events, including a retry, and leaves nothing behind', async () => {
    start('demo.mjs');
    await ended();
    const arrivals = [...output.matchAll(/← POST (\S+) +attempt (\d) +signature verified +answered (\d+)/g)];
    const delivered = arrivals.filter(([, , , answer]) => answer === '200').map(([, event]) => event);
    const retried = arrivals.filter(([, , attempt]) => attempt !== '1');
    expect(output).not.toContain('✘');
    expect(delivered.sort()).toEqual(EVENTS);
    expect(arrivals).toHaveLength(9);
    expect(retried).toHaveLength(1);
    expect(demo.exitCode).toBe(0);
    await expectNothingLeft();
  });

  it('leaves nothing behind when it is interrupted while the service starts', async () => {
    start('demo.mjs');
    await waitFor(() => output.includes('1  Start'), { what: 'the first step' });
    demo.kill('SIGINT');
    await ended();
    expect(demo.exitCode).toBe(1);
    await expectNothingLeft();
  });
});

describe('The demo that fills a service', () => {
  it('has webhooks in every state, runs until it is ended, and leaves nothing behind', async () => {
    const port = await freePort();
    // The webhooks have enough failures after so many events.
    start('demo-fill.mjs', { PORT: String(port), DEMO_EVENTS: '400' });
    await waitFor(() => output.includes('Ctrl-C'), { what: 'the link', timeoutMs: 240_000 });
    const [, token = ''] = /Access token: (\S+)/.exec(output)!;
    const api = new Api(`http://127.0.0.1:${port}`, token);
    const healths = async () =>
      (await dataOf(api.listWebhooks({ include: 'stats', limit: 250 }))).map(({ stats }) => stats!.health);
    const hasAll = async () => new Set(await healths()).size === 5;
    await waitFor(hasAll, { what: 'a webhook of each health' });
    expect(await healths()).toHaveLength(12);
    demo.kill('SIGINT');
    await ended();
    expect(demo.exitCode).toBe(0);
    await expectNothingLeft();
  });
});
