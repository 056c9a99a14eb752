import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, errorEnvelope, invalid, MESSAGES, noRoute, retryLater } from './api-error';
import { isDatabaseReadOnly, isDatabaseUnavailable, isLocked, isRefusedValue } from './database-error';

/**
 * Returns the error envelope for any error, including those of server hooks; `http-server.setup.ts` writes the success
 * envelope. A 500 is logged, and its response contains no internals.
 */
@Catch()
export class ApiExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger(ApiExceptionFilter.name);

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const answer = this.answer(error, request);
    const envelope = errorEnvelope(answer, request.id);
    void http.getResponse<FastifyReply>().status(answer.status).headers(answer.headers).send(envelope);
  }

  private answer(error: unknown, request: FastifyRequest): ApiError {
    if (error instanceof ApiError) return error;
    if (isDatabaseReadOnly(error)) return retryLater('unavailable', MESSAGES.databaseReadOnly);
    if (isDatabaseUnavailable(error)) return retryLater('unavailable', MESSAGES.unavailable);
    if (isLocked(error)) return retryLater('busy', MESSAGES.busy);
    if (isRefusedValue(error)) {
      this.logger.warn(
        `PostgreSQL rejected a value; returning 400 to ${request.method} ${request.routeOptions.url ?? ''}.`,
      );
      return invalid('request', MESSAGES.impossibleValue);
    }
    const status = statusOf(error);
    if (status !== null) return rejectionOf(status, request);
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.logger.error(`Request ${request.id} failed: ${cause}`);
    return new ApiError('internal_error', MESSAGES.internal);
  }
}

/** The status with which Nest or Fastify reject a request before it reaches a controller. Our own errors are ApiErrors. */
function statusOf(error: unknown): number | null {
  const status: unknown =
    error instanceof HttpException ? error.getStatus() : (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : null;
}

function rejectionOf(status: number, request: FastifyRequest): ApiError {
  if (status === 404) return noRoute(request.method, request.url.split('?', 1)[0] ?? '');
  if (status === 413) return new ApiError('body_too_large', MESSAGES.bodyTooLarge);
  if (status === 415) return new ApiError('unsupported_media_type', MESSAGES.unsupportedMediaType);
  return new ApiError('malformed_json', MESSAGES.malformedJson);
}
