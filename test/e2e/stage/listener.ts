import { join } from 'node:path';
import { capture, endProcess, hasExited, type Settings, spawnFile } from '../../support/service';
import { waitFor } from '../../support/wait-for';

/** The program of the library. */
export const LIBRARY_COMMAND = join(__dirname, '../../../packages/webhook-notification-cli/dist/command.js');

/** `webhook-notification listen`, as a process of its own. */
export interface Listener {
  /** The standard output. */
  lines(): string;
  /** The error output. */
  remarks(): string;
  /** Waits until it forwards, and returns the id of its webhook. */
  webhookId(): Promise<string>;
  /** Waits until it has printed a line that matches, and returns the line. */
  line(pattern: RegExp): Promise<string>;
  /** Ends it, and returns its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Waits until it has ended by itself, and returns its exit code. */
  ended(): Promise<number | null>;
}

/** Starts it with these options and environment variables. */
export function startListener(options: readonly string[], settings: Settings): Listener {
  const child = spawnFile(LIBRARY_COMMAND, ['listen', ...options], settings);
  const [lines, remarks] = [capture(child, ['stdout']), capture(child, ['stderr'])];
  const until = <T>(probe: () => T, what: string) =>
    waitFor(() => probe() || hasExited(child), { what }).then(() => {
      const found = probe();
      if (!found) throw new Error(`listen ended without ${what}. It printed:\n${lines()}${remarks()}`);
      return found;
    });
  return {
    lines,
    remarks,
    webhookId: () => until(() => /of webhook (\S+) to/.exec(remarks())?.[1], 'the id of its webhook'),
    line: (pattern) =>
      until(
        () =>
          lines()
            .split('\n')
            .find((line) => pattern.test(line)),
        `a line with ${String(pattern)}`,
      ),
    end: (signal) => endProcess(child, signal),
    ended: async () => {
      await waitFor(() => hasExited(child), { what: 'the end of listen' });
      return child.exitCode;
    },
  };
}
