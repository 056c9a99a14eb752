import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { capture, endProcess, hasExited } from '../../support/service';
import { waitFor } from '../../support/wait-for';

const COMMAND = join(__dirname, '../../../packages/webhook-notification-cli/dist/command.js');

export interface CommandRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A run of `webhook-notification` that ends by itself or is killed. */
export interface RunningCommand {
  stdout(): string;
  ended(): Promise<CommandRun>;
  /** Ends it with SIGKILL, and tells whether it was still running. */
  kill(): Promise<boolean>;
}

/** Starts `webhook-notification` as its user does, with these variables besides PATH. */
export function startCommand(args: readonly string[], variables: Record<string, string>): RunningCommand {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { PATH: process.env.PATH, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [capture(child, ['stdout']), capture(child, ['stderr'])];
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    stdout,
    ended: async () => {
      await waitFor(() => hasExited(child), { what: `the end of ${args.join(' ')}`, timeoutMs: 900_000 });
      await closed;
      return { code: child.exitCode, stdout: stdout(), stderr: stderr() };
    },
    kill: async () => {
      const wasRunning = !hasExited(child);
      await endProcess(child, 'SIGKILL');
      return wasRunning;
    },
  };
}

/** Runs `webhook-notification` to its end. */
export const runCommandLine = (args: readonly string[], variables: Record<string, string>): Promise<CommandRun> =>
  startCommand(args, variables).ended();
