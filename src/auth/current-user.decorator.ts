import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Principal } from './access-token';

/** A request that passed the bearer guard. */
export type AuthenticatedRequest = FastifyRequest & { user: Principal };

/** Injects the principal that the bearer guard has set. */
export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<AuthenticatedRequest>().user,
);
