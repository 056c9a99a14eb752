import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { ordinaryPostgresBin } from '../../../scripts/ordinary-postgres.cjs';
import { isOnline } from '../../support/online';
import { programPath } from '../../support/programs';
import { capture, hasExited, serviceFile, type Settings, WEBHOOKS } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { pathOf, placeOf, type Sample } from './samples';

/** Characters of an output in the message of a failure. */
const MAX_SHOWN = 4000;
/** There is a psql where there is an ordinary PostgreSQL, though maybe not on the PATH. */
const POSTGRES_BIN = ordinaryPostgresBin() ?? '/usr/bin';
const PATH = [dirname(process.execPath), process.env.PATH, POSTGRES_BIN].join(delimiter);

/** The commands that run a file of another language, or check it. */
const COMMANDS: Record<string, (file: string, code: string) => string> = {
  sh: (_, code) => code,
  sql: (file) => `psql "$DATABASE_URL" --no-psqlrc --set=ON_ERROR_STOP=1 --file='${file}'`,
  python: (file) => `python3 -c 'import ast, sys; ast.parse(sys.stdin.read())' <'${file}'`,
  go: (file) => `gofmt -e '${file}' >/dev/null`,
  php: (file) => `php -l '${file}'`,
};
export const isForShell = ({ language }: Sample): boolean => language in COMMANDS;

/** Programs of other languages and systems, which this repository does not install. */
const PROGRAM = /(?:^|[|;&({!]|\$\()\s*(?:\w+=\S* +)*(jq|psql|python3?|pip3?|php|go|gofmt)\b/gm;
const LIBRARY = String.raw`(\S*/)?webhook-notification(-[\d.]+\.tgz)?`;
const REGISTRY = new RegExp(
  String.raw`^ *(npm (ci|i|install)\b(?! ${LIBRARY}$)|npx (?!webhook)|pip3? install|go (run|get|mod tidy))`,
  'm',
);

/** The programs of the checkout instead of those in a registry, and a curl that fails after an HTTP error. */
const OWN_PROGRAMS: Record<string, (real: string) => string> = {
  curl: (real) => `exec '${real}' --fail-with-body "$@"`,
  // The folder has the library.
  npm: (real) => `case "$#$*" in "2install "*webhook-notification*) exit 0 ;; esac; exec '${real}' "$@"`,
  npx: (real) => `case "$1" in
webhooks) shift; exec node '${resolve(serviceFile(WEBHOOKS))}' "$@" ;;
webhook-notification-cli) shift; exec node '${resolve('packages/webhook-notification-cli/dist/command.js')}' "$@" ;;
esac
exec '${real}' "$@"`,
};

/** What would change the machine instead of the folder of the page. */
const BEYOND = /(?:^|[|;&({!]|\$\()\s*(docker|kubectl|helm|systemctl|sudo|install|apt|apt-get|redis-cli)\b/m;

const where = (program: string) => programPath(program, join(POSTGRES_BIN, program));

/** A reader of a page, in a folder of their own, who types its blocks in one bash. The first command that fails ends it. */
export class SampleShell {
  private readonly bash: ChildProcess;
  private readonly printed: () => string;
  private readonly ended: Promise<unknown>;
  /** The lines of the blocks that have ended, and the exit codes of those in the background. */
  private readonly ends = new Map<number, number>();
  private readonly background: Sample[] = [];

  /** @param settings what is set in the shell, besides the environment that finds programs and registries */
  constructor(
    private readonly folder: string,
    settings: Settings,
  ) {
    for (const name of ['bin', 'blocks', 'home', 'tmp', 'work/node_modules', 'work/.data'])
      mkdirSync(join(folder, name), { recursive: true });
    for (const [name, script] of Object.entries(OWN_PROGRAMS)) {
      writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script(where(name) ?? name)}\n`);
      chmodSync(join(folder, 'bin', name), 0o755);
    }
    symlinkSync(resolve('packages/webhook-notification'), join(folder, 'work/node_modules/webhook-notification'));
    writeFileSync(join(folder, 'work/.data/first-token'), `${settings.WEBHOOKS_TOKEN}\n`);
    const reach = Object.entries(process.env).filter(([key]) => /^npm_config_|proxy|cert/i.test(key));
    const env = {
      ...{ npm_config_cache: join(homedir(), '.npm'), npm_config_logs_max: '0', GOPATH: join(homedir(), 'go') },
      ...{ GOCACHE: join(homedir(), '.cache/go-build'), NO_COLOR: '1', ...Object.fromEntries(reach) },
      ...{ ...settings, HOME: join(folder, 'home'), TMPDIR: join(folder, 'tmp') },
      PATH: [join(folder, 'bin'), PATH].join(delimiter),
    };
    // A group of its own, which ends with all that was started in it.
    const stdio = ['pipe', 'pipe', 'pipe', 'pipe'] as const;
    this.bash = spawn('bash', ['-s'], { cwd: join(folder, 'work'), env, stdio: [...stdio], detached: true });
    this.bash.stdin!.on('error', () => undefined);
    this.printed = capture(this.bash, ['stdout']);
    this.ended = once(this.bash, 'close');
    createInterface({ input: this.bash.stdio[3] as NodeJS.ReadableStream }).on('line', (line) => {
      const [block = 0, code = 0] = line.split(' ').map(Number);
      this.ends.set(block, code);
    });
    this.bash.stdin!.write('exec 2>&1; set -euo pipefail; shopt -s inherit_errexit\n');
  }

  /** Returns what a block needs and this machine lacks; null when it can run. */
  static lacks({ language, code }: Sample): string | null {
    const command = COMMANDS[language]!('file', code);
    if (!isOnline && REGISTRY.test(command)) return 'package registries are used only in CI and with LONG=1';
    const missing = [...command.matchAll(PROGRAM)].map(([, program]) => program!).find((program) => !where(program));
    return missing === undefined ? null : `there is no ${missing} on this machine`;
  }

  /** Writes the file that the block names. */
  write(sample: Sample): string {
    const path = join(this.folder, sample.file === undefined ? 'blocks' : 'work', pathOf(sample));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, sample.code);
    return path;
  }

  /**
   * Types a block, and waits for its end; of one in the background, for the first line that it prints.
   * @throws Error with the block and what it printed, when it fails or hangs
   */
  async run(sample: Sample): Promise<void> {
    const [, beyond] = sample.language === 'sh' ? (BEYOND.exec(sample.code) ?? []) : [];
    if (beyond) throw new Error(`${placeOf(sample)} would change this machine (${beyond}): mark it.\n\n${sample.code}`);
    const from = this.printed().length;
    const [script, log] = [this.fileOf(sample, 'sh'), this.fileOf(sample, 'log')];
    writeFileSync(script, COMMANDS[sample.language]!(this.write(sample), sample.code));
    const isBackground = sample.way === 'background';
    if (isBackground) this.background.push(sample);
    const { line } = sample;
    const inBackground = `(trap 'echo "${line} $?" >&3' EXIT; . '${script}') </dev/null >'${log}' 2>&1 &`;
    this.bash.stdin!.write(isBackground ? `${inBackground}\n` : `. '${script}' </dev/null\necho ${line} >&3\n`);
    const isReady = () => this.ends.has(line) || (isBackground && existsSync(log) && statSync(log).size > 0);
    const isOver = () => isReady() || hasExited(this.bash) || this.failedInBackground() !== undefined;
    const hangs = await waitFor(isOver, { what: placeOf(sample), everyMs: 5 }).then(
      () => false,
      () => true,
    );
    const failed = this.failedInBackground();
    if (failed) throw await this.failure(failed, `ended with exit code ${this.ends.get(failed.line)}`, from);
    const what = isBackground ? 'prints nothing' : 'does not end; one that keeps running is a `background`';
    if (hangs) throw await this.failure(sample, what, from);
    if (!isReady()) throw await this.failure(sample, `failed with exit code ${this.bash.exitCode}`, from);
  }

  /** Ends everything that the page has started, and removes its files. */
  async close(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private async kill(): Promise<void> {
    try {
      process.kill(-this.bash.pid!, 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
    await this.ended;
  }

  private fileOf({ line }: Sample, suffix: string): string {
    return join(this.folder, 'blocks', `${line}.${suffix}`);
  }

  /** A block in the background that has failed; a signal, with which a later block may end it, is no failure. */
  private failedInBackground(): Sample | undefined {
    return this.background.find(({ line }) => {
      const code = this.ends.get(line) ?? 0;
      return code > 0 && code < 128;
    });
  }

  private async failure(sample: Sample, what: string, from: number): Promise<Error> {
    await this.kill();
    const logs = this.background.map((one): [string, string] => {
      const file = this.fileOf(one, 'log');
      return [`${placeOf(one)} printed`, existsSync(file) ? readFileSync(file, 'utf8') : ''];
    });
    const texts: [string, string][] = [['It printed', this.printed().slice(from)], ...logs];
    const shown = texts.map(([title, text]) => `${title}:\n${text.slice(-MAX_SHOWN)}`).join('\n');
    return new Error(`${placeOf(sample)} ${what}.\n\n${sample.code}\n${shown}`);
  }
}
