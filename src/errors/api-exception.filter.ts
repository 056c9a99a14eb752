import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './api-error';
import { messageFor, MESSAGES } from './catalogue';
import { isDatabaseUnavailable } from './database-error';
import { errorEnvelope } from './envelope';

interface Answer {
  status: number;
  message: string;
}

/** Turns whatever was thrown into the error envelope. A 500 is logged and never carries internals. */
@Catch()
export class ApiExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger('Api');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const { status, message } = this.answer(error, http.getRequest<FastifyRequest>());
    void http.getResponse<FastifyReply>().status(status).send(errorEnvelope(message));
  }

  private answer(error: unknown, request: FastifyRequest): Answer {
    if (error instanceof ApiError) return error;
    if (error instanceof HttpException) return fromNest(error, request);
    if (isDatabaseUnavailable(error)) return { status: 503, message: MESSAGES.unavailable };
    const fromRequest = fromFastify(error);
    if (fromRequest) return fromRequest;
    this.logger.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return { status: 500, message: MESSAGES.internal };
  }
}

/** Nest's own exceptions: validation carries a list of messages, and 404 here only means that there is no such route. */
function fromNest(exception: HttpException, request: FastifyRequest): Answer {
  const status = exception.getStatus();
  if (status === 404) return { status, message: messageFor.noRoute(request.method, pathOf(request)) };
  const body = exception.getResponse();
  const message = typeof body === 'string' ? body : (body as { message?: unknown }).message;
  return { status, message: Array.isArray(message) ? message.join('; ') : String(message) };
}

/** Fastify's own errors about a request carry a status of 4xx. */
function fromFastify(error: unknown): Answer | null {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  if (typeof status !== 'number' || status < 400 || status >= 500) return null;
  if (status === 413) return { status, message: MESSAGES.bodyTooLarge };
  if (status === 415) return { status, message: MESSAGES.unsupportedMediaType };
  return { status, message: MESSAGES.malformedJson };
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}
