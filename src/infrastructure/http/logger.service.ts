import type { LoggerService } from '@nestjs/common';
import type { FastifyBaseLogger } from 'fastify';
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

/** Contexts in which Nest logs its own startup, which is not needed at `info`. */
const NEST_CONTEXTS = ['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication'];

/** Writes the lines of Nest and of our own `Logger`s to Fastify's pino log. */
export class PinoLoggerService implements LoggerService {
  constructor(private readonly pino: FastifyBaseLogger) {}

  /** Logs at `info`; the lines of Nest's own startup at `debug`. */
  log(message: unknown, context?: string): void {
    this.write(NEST_CONTEXTS.includes(context ?? '') ? 'debug' : 'info', message, context);
  }

  warn(message: unknown, context?: string): void {
    this.write('warn', message, context);
  }

  error(message: unknown, ...rest: (string | undefined)[]): void {
    const stack = rest.find((text) => text?.includes('\n    at '));
    const context = rest.findLast((text) => text !== stack);
    this.write('error', stack === undefined ? message : { msg: String(message), stack }, context);
  }

  debug(message: unknown, context?: string): void {
    this.write('debug', message, context);
  }

  /** Nest's `verbose` is pino's `trace`. */
  verbose(message: unknown, context?: string): void {
    this.write('trace', message, context);
  }

  private write(level: 'trace' | 'debug' | 'info' | 'warn' | 'error', message: unknown, context?: string): void {
    if (message instanceof Error) this.pino[level]({ context, err: message }, message.message);
    else if (typeof message === 'object' && message !== null) this.pino[level]({ context, ...message });
    else this.pino[level]({ context }, String(message));
  }
}
