import SonicBoom from 'sonic-boom';

/** What waits to be written when the disk is full, or the reader of the log is slow. Beyond it lines are dropped. */
const MAX_WAITING_BYTES = 4_194_304;
const ENDS_WITHIN_MS = 500;

/**
 * Standard output, for the log. It is written without waiting. When it cannot be written, because the disk is full or its
 * reader is gone, lines are dropped and the service goes on; when it can be written again, so does the log.
 */
const destination = new SonicBoom({ fd: 1, maxLength: MAX_WAITING_BYTES });
destination.on('error', () => undefined);

let hasEnded = false;

/** Where the log of this process goes. What comes after its end is dropped. */
export const logDestination = {
  write: (line: string): void => {
    if (!hasEnded) destination.write(line);
  },
};

/** Writes what is left, if that takes no longer than half a second. To be called before the process ends. */
export async function endLog(): Promise<void> {
  hasEnded = true;
  await new Promise<void>((resolve) => {
    destination.once('close', resolve).once('error', resolve);
    setTimeout(resolve, ENDS_WITHIN_MS);
    destination.end();
  });
}
