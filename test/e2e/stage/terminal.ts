import { type ChildProcess, spawn } from 'node:child_process';
import { capture, hasExited } from '../../support/service';
import { PATIENCE_MS, waitFor } from '../../support/wait-for';

/** A shell of somebody who follows a document: what is typed runs in order, and the first command that fails ends it. */
export class Terminal {
  private readonly shell: ChildProcess;
  readonly printed: () => string;

  constructor(
    private readonly title: string,
    folder: string,
    env: NodeJS.ProcessEnv,
  ) {
    // A group of its own, which ends with all that was started in it.
    this.shell = spawn('bash', ['-e', '-s'], { cwd: folder, env, stdio: 'pipe', detached: true });
    this.shell.stdin?.on('error', () => undefined);
    this.printed = capture(this.shell, ['stdout', 'stderr']);
  }

  /** A program that it starts cannot read what is typed next. */
  type(text: string): void {
    this.shell.stdin?.write(`{\n${text}\n} </dev/null\n`);
  }

  /** Waits until it has printed this, and answers what is printed. */
  async says(what: string | RegExp, timeoutMs = PATIENCE_MS): Promise<string> {
    const isThere = () => this.printed().search(what) >= 0;
    const patience = { what: `${String(what)} in the terminal of ${this.title}`, timeoutMs };
    await waitFor(() => hasExited(this.shell) || isThere(), patience).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.printed()}`);
    });
    if (!isThere()) throw new Error(`The terminal of ${this.title} ended:\n${this.printed()}`);
    return this.printed();
  }

  async close(): Promise<void> {
    if (this.shell.pid !== undefined && !hasExited(this.shell)) process.kill(-this.shell.pid, 'SIGKILL');
    await waitFor(() => hasExited(this.shell), { what: `the end of the terminal of ${this.title}` });
  }
}
