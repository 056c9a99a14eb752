import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasExited } from '../../support/service';
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
  const { PATH, HOME } = process.env;
  demo = spawn(process.execPath, [join(__dirname, '../../../scripts/demo.mjs')], {
    env: { PATH, HOME, TMPDIR: folder, DATABASE_URL: 'postgres://not.the.demos/business' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  output = '';
  demo.stdout?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
});

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
    await waitFor(() => output.includes('1  Start'), { what: 'the first step' });
    demo.kill('SIGINT');
    await ended();
    expect(demo.exitCode).toBe(1);
    await expectNothingLeft();
  });
});
