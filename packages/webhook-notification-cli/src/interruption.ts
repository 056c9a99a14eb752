import { setMaxListeners } from 'node:events';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Requests in flight have this long to finish. */
const GRACE_MS = 3000;
/** A second signal within this time is the same Ctrl-C: npx forwards it to a program that the terminal has interrupted. */
const SAME_CTRL_C_MS = 500;
const CHECK_PARENT_MS = 500;

/**
 * Ends a command in two steps. The first signal, or a closed output, aborts `stopped`: the command begins nothing new. A
 * second signal, or 3 s, aborts `cut`: it aborts requests in flight. A third signal ends the process at once.
 */
export class Interruption {
  private readonly stopping = new AbortController();
  private readonly cutting = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private parentTimer: NodeJS.Timeout | undefined;
  private stoppedAt = 0;

  readonly stopped: AbortSignal = this.stopping.signal;
  readonly cut: AbortSignal = this.cutting.signal;

  private readonly onSignal = () => {
    if (!this.stopped.aborted) return this.stop();
    if (performance.now() - this.stoppedAt < SAME_CTRL_C_MS) return;
    this.cutting.abort();
    this.ignoreSignals();
  };

  /** @param endsWithParent stops when the parent process ends: npm sends SIGTERM only to the shell that it has started */
  constructor({ endsWithParent }: { endsWithParent: boolean }) {
    // Each request in flight adds a listener.
    setMaxListeners(0, this.stopped, this.cut);
    for (const signal of SIGNALS) process.on(signal, this.onSignal);
    // The reader, such as `head`, has ended, or the terminal was closed.
    for (const output of [process.stdout, process.stderr]) output.on('error', this.stop);
    const parent = process.ppid;
    const check = () => process.ppid !== parent && this.stop();
    if (endsWithParent) this.parentTimer = setInterval(check, CHECK_PARENT_MS).unref();
  }

  readonly stop = (): void => {
    if (this.stopped.aborted) return;
    this.stoppedAt = performance.now();
    this.stopping.abort();
    this.timer = setTimeout(() => this.cutting.abort(), GRACE_MS);
  };

  /** Restores the default effect of the signals. */
  close(): void {
    clearTimeout(this.timer);
    clearInterval(this.parentTimer);
    this.ignoreSignals();
  }

  private ignoreSignals(): void {
    for (const signal of SIGNALS) process.off(signal, this.onSignal);
  }
}
