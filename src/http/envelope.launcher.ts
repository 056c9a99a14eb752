import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { Page } from '../pagination/page';

/** Wraps what a controller under `/api` returns: `{ success: true, data }`, and `nextCursor` beside it for a page. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return isApiRoute(request) ? next.handle().pipe(map(envelope)) : next.handle();
  }
}

/** Is this one of the routes that need a token and answer in the envelope? */
export function isApiRoute(request: FastifyRequest): boolean {
  return (request.routeOptions.url ?? '').startsWith('/api/');
}

function envelope(data: unknown): object {
  if (data instanceof Page) return { success: true, data: data.items, nextCursor: data.nextCursor };
  return { success: true, data };
}
