import { Body } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

export const BODY_PARSER = 'validation:body-parser';

/** Returns the body as the handler receives it. Throws an `ApiError` with details that lists every error. */
export type BodyParser = (body: unknown, request: FastifyRequest) => unknown;

/**
 * Injects the body as this function parses it, instead of a DTO: class-transformer must not touch the data of events,
 * and takes too long for large bodies.
 */
export const ParsedBody =
  (parse: BodyParser): ParameterDecorator =>
  (target, method, index) => {
    Body()(target, method, index);
    Reflect.defineMetadata(BODY_PARSER, parse, (target as Record<string, object>)[method as string] as object);
  };
