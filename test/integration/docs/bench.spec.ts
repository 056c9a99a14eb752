import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capture, hasExited } from '../../support/service';
import { programPath } from '../../support/programs';
import { waitFor } from '../../support/wait-for';

jest.setTimeout(600_000);

const QUEUES = programPath('redis-server') ? ['redis', 'postgres'] : ['postgres'];
const VALUES = ['received', 'recorded', ...(process.platform === 'linux' ? ['processor time'] : [])];
const FIGURES = [1, 100].flatMap((webhooks) =>
  ['in process', 'over HTTP'].flatMap((door) =>
    VALUES.map((value) => `fan-out ${webhooks}, published ${door}, ${value}`),
  ),
);

interface Results {
  rows: { title: string; isValid: boolean; measured: number; ratio: { median: number } }[];
  figures: { rounds: { problems: string[] }[] }[];
}

let folder: string;
let bench: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-test-'));
  await chmod(folder, 0o755);
});

afterEach(async () => {
  bench?.kill('SIGTERM');
  await waitFor(() => !bench || hasExited(bench), { what: 'the end of the benchmark' });
  await rm(folder, { recursive: true, force: true });
});

/** Runs the benchmark in the folder until it ends, and returns its output. */
async function run(settings: Record<string, string>): Promise<string> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, TMPDIR: folder, ...settings };
  const started = spawn(process.execPath, [join(__dirname, '../../../bench/bench.mjs')], { cwd: folder, env });
  bench = started;
  const output = capture(started, ['stdout', 'stderr']);
  await once(started, 'close');
  return output();
}

describe('The benchmark', () => {
  it('measures three valid rounds of each figure, and leaves nothing but its results', async () => {
    const output = await run({ BENCH: 'throughput', BENCH_SCALE: '0.001' });
    expect(output).toContain('Every run was right.');
    expect(bench?.exitCode).toBe(0);
    const { rows, figures } = JSON.parse(await readFile(join(folder, 'bench-results.json'), 'utf8')) as Results;
    expect(rows.map(({ title }) => title)).toEqual(
      QUEUES.flatMap((queue) => FIGURES.map((figure) => `${queue}, ${figure}`)),
    );
    // Ten deliveries may take less than a tick of the processor's clock.
    const timed = rows.filter(({ title }) => !title.endsWith('processor time'));
    expect(rows.every(({ isValid }) => isValid)).toBe(true);
    expect(timed.every(({ measured, ratio }) => measured > 0 && ratio.median > 0)).toBe(true);
    expect(figures.map(({ rounds }) => rounds.length)).toEqual(figures.map(() => 3));
    expect(await readdir(folder)).toEqual(['bench-results.json']);
  });

  it('rejects an unknown workload', async () => {
    expect(await run({ BENCH: 'throughput,luck' })).toContain('no workload "luck"');
    expect(bench?.exitCode).toBe(1);
  });
});
