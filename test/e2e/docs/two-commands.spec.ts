import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { describeOnline } from '../../support/online';
import { capture, freePort } from '../../support/service';
import { waitFor } from '../../support/wait-for';

const ROOT = join(__dirname, '../../..');
const COMMANDS = ['npm ci && npm start', 'npm ci && npm test'];
/** What npm, Node.js, jest and the service print when something is not as it should be. */
const WARNINGS = /warn|deprecat|EBADENGINE|vulnerab|failed to exit|MaxListeners|did not exit/i;

describeOnline('The two commands of the README, in a fresh clone in a folder with a space', () => {
  let home: string;
  let clone: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'two commands '));
    chmodSync(home, 0o755); // as root, its PostgreSQL runs as another user
    clone = join(home, 'a clone');
    execFileSync('git', ['-c', 'safe.directory=*', 'clone', '--quiet', '--depth=1', `file://${ROOT}`, clone]);
    // What is not committed yet is part of it, too.
    const changes = execFileSync('git', ['diff', '--binary', 'HEAD'], { cwd: ROOT });
    if (changes.length > 0) execFileSync('git', ['apply', '--index', '-'], { cwd: clone, input: changes });
    mkdirSync(join(home, 'tmp'));
    // How this machine reaches the registry, and nothing of a developer's own settings.
    const reach = Object.entries(process.env).filter(([key]) => /^npm_config_(registry|cache)|proxy|cert/i.test(key));
    env = {
      ...Object.fromEntries(reach),
      HOME: process.env.HOME,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      TMPDIR: join(home, 'tmp'),
      TEST_BUDGET_MS: '2000',
    };
  });
  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

  const changed = () => execFileSync('git', ['status', '--porcelain'], { cwd: clone, encoding: 'utf8' });
  const before = () => execFileSync('git', ['diff', '--name-only', 'HEAD'], { cwd: clone, encoding: 'utf8' });

  it('are in its first 25 lines', () => {
    const lines = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n').slice(0, 25);
    for (const command of COMMANDS) expect(lines).toContainEqual(expect.stringContaining(command));
  });

  it('start a service that ends with nothing left behind, and warn of nothing', async () => {
    const staged = before();
    const port = await freePort();
    const shell = spawn('bash', ['-c', COMMANDS[0]!], {
      cwd: clone,
      env: { ...env, PORT: String(port) },
      detached: true,
    });
    const printed = capture(shell, ['stdout', 'stderr']);
    const closed = once(shell, 'close');
    await Promise.race([
      waitFor(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok, {
        what: 'the service',
        timeoutMs: 600_000,
      }),
      closed,
    ]);
    // As Ctrl-C does: to npm, its shell and the service.
    process.kill(-shell.pid!, 'SIGINT');
    await closed;
    expect(printed()).toContain(`http://127.0.0.1:${port}`);
    expect(
      printed()
        .split('\n')
        .filter((line) => WARNINGS.test(line)),
    ).toEqual([]);
    expect(before()).toBe(staged);
    expect(
      changed()
        .split('\n')
        .filter((line) => line.startsWith('??') || / M /.test(line)),
    ).toEqual([]);
    expect(processesIn(clone)).toEqual([]);
  });

  it('run the tests, say what is skipped, and warn of nothing', () => {
    const [, test = ''] = COMMANDS[1]!.split(' && ');
    const { status, stdout, stderr } = spawnSync('bash', ['-c', test], { cwd: clone, env, encoding: 'utf8' });
    expect(`${stdout}${stderr}`.split('\n').filter((line) => WARNINGS.test(line))).toEqual([]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringMatching(/^Tests: .* passed/m) });
    expect(
      changed()
        .split('\n')
        .filter((line) => line.startsWith('??') || / M /.test(line)),
    ).toEqual([]);
    expect(processesIn(clone)).toEqual([]);
  });
});

/** Command lines of running processes that name the folder. */
function processesIn(folder: string): string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(folder));
}
