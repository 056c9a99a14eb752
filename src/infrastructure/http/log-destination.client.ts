import SonicBoom from 'sonic-boom';

/** Maximum bytes waiting to be written when the disk is full or the log's reader is slow. Further lines are dropped. */
const MAX_WAITING_BYTES = 4_194_304;
const ENDS_WITHIN_MS = 500;

/**
 * Standard output, for the log. It is written asynchronously. While it cannot be written, because the disk is full or
 * its reader is gone, lines are dropped and the service continues; logging resumes when it can be written again.
 */
const destination = new SonicBoom({ fd: 1, maxLength: MAX_WAITING_BYTES });
destination.on('error', () => undefined);

let hasEnded = false;

/** The destination of this process's log. Lines that arrive after its end are dropped. */
export const logDestination = {
  write: (line: string): void => {
    if (!hasEnded) destination.write(line);
  },
};

/** Writes the remaining lines, if that takes at most half a second. Call it before the process ends. */
export async function endLog(): Promise<void> {
  hasEnded = true;
  await new Promise<void>((resolve) => {
    destination.once('close', resolve).once('error', resolve);
    setTimeout(resolve, ENDS_WITHIN_MS);
    destination.end();
  });
}
