const stop = new AbortController();

/**
 * Aborted by the first SIGTERM, by Ctrl-C, or by a terminal that is closed. The second one ends the process at once. Programs
 * import this file first: process 1 of a container ignores signals that it does not handle, and loading takes a second.
 */
export const stopSignal: AbortSignal = stop.signal;

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopSignal.aborted) process.exit(1);
    stop.abort(new Error(`Ended by ${signal} before the start was complete.`));
  });
}

/** How long a step of a start may still take after the signal. Then it is given up; it may be waiting for ever. */
const STEP_ENDS_WITHIN_MS = 5000;

/** Resolves as the step does. Rejects when it has not ended some seconds after the signal. */
export async function unlessStopped<Result>(step: Promise<Result>): Promise<Result> {
  return Promise.race([
    step,
    new Promise<never>((_, reject) => {
      const giveUp = (): void => void setTimeout(() => reject(stopSignal.reason as Error), STEP_ENDS_WITHIN_MS).unref();
      if (stopSignal.aborted) giveUp();
      else stopSignal.addEventListener('abort', giveUp, { once: true });
    }),
  ]);
}
