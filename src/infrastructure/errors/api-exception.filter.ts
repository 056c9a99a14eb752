import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './api-error';
import { messageFor, MESSAGES } from './messages';
import { isDatabaseReadOnly, isDatabaseUnavailable, isRefusedValue } from './database-error';
import { errorEnvelope } from './envelope';

interface Answer {
  status: number;
  message: string;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Returns the error envelope for any error, including those of server hooks; `envelope.setup.ts` writes the success
 * envelope. A 500 is logged, and its response contains no internals.
 */
@Catch()
export class ApiExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger(ApiExceptionFilter.name);

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const { status, message, headers = {} } = this.answer(error, http.getRequest<FastifyRequest>());
    void http.getResponse<FastifyReply>().status(status).headers(headers).send(errorEnvelope(message));
  }

  private answer(error: unknown, request: FastifyRequest): Answer {
    if (error instanceof ApiError) return error;
    if (isDatabaseReadOnly(error)) return { status: 503, message: MESSAGES.databaseReadOnly };
    if (isDatabaseUnavailable(error)) return { status: 503, message: MESSAGES.unavailable };
    if (isRefusedValue(error)) {
      this.logger.warn(
        `PostgreSQL rejected a value; returning 400 to ${request.method} ${request.routeOptions.url ?? ''}.`,
      );
      return { status: 400, message: MESSAGES.impossibleValue };
    }
    const status = statusOf(error);
    if (status !== null) return { status, message: messageOf(status, request) };
    this.logger.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return { status: 500, message: MESSAGES.internal };
  }
}

/** The status with which Nest or Fastify reject a request before it reaches a controller. Our own errors are ApiErrors. */
function statusOf(error: unknown): number | null {
  const status: unknown =
    error instanceof HttpException ? error.getStatus() : (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : null;
}

function messageOf(status: number, request: FastifyRequest): string {
  if (status === 404) return messageFor.noRoute(request.method, request.url.split('?', 1)[0] ?? '');
  if (status === 413) return MESSAGES.bodyTooLarge;
  if (status === 415) return MESSAGES.unsupportedMediaType;
  return MESSAGES.malformedJson;
}
