import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Principal } from './access-token';

/** A request that the bearer guard has let pass. */
export type AuthenticatedRequest = FastifyRequest & { user: Principal };

/** The principal that the bearer guard has established. */
export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<AuthenticatedRequest>().user,
);
