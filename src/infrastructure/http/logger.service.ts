import type { LoggerService } from '@nestjs/common';
import type { FastifyBaseLogger } from 'fastify';

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

  /** Nest passes a stack, a context, or both. */
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
