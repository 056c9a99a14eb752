import { Body, Param, SetMetadata, type Type } from '@nestjs/common';
import { ApiParam, type ApiParamOptions } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { FieldError } from 'webhook-notification/catalogue';
import { idOf } from './uuid';

export const PATH_PARAMS = 'validation:path-params';

/** A parameter of the path. `parse` returns it as the handler receives it; throws an `ApiError` with details. */
export interface ParsedParam {
  name: string;
  parse: (text: string) => string;
}

export const PathParam =
  (options: ApiParamOptions & ParsedParam): ParameterDecorator =>
  (target, method, index) => {
    const { name, parse, ...documented } = options;
    Param(name)(target, method, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, method as string);
    if (!descriptor) return;
    ApiParam({ name, ...documented } as ApiParamOptions)(target, method as string, descriptor);
    const handler = descriptor.value as object;
    const others = (Reflect.getMetadata(PATH_PARAMS, handler) ?? []) as ParsedParam[];
    Reflect.defineMetadata(PATH_PARAMS, [{ name, parse }, ...others], handler);
  };

/** Validates that a path segment is a UUID (otherwise returns 400), and documents it. */
export const IdParam = (name: string, description: string): ParameterDecorator =>
  PathParam({ name, description, type: String, format: 'uuid', parse: (text) => idOf(name, text) });

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

export const REQUEST_RULES = 'validation:rules';

export interface RuleRequest {
  user?: { userId: string };
  params: unknown;
}

/** Rules for the fields of a body that need more than the field: settings, other fields, or the database. */
export interface RequestRules {
  /** Returns the errors of these fields, which are valid on their own, as sent. */
  errorsOf(fields: Record<string, unknown>, request: RuleRequest): Promise<FieldError[]> | FieldError[];
}

/** Validates the body of a route by these rules too, so that one response lists all errors. */
export const Rules = (rules: Type<RequestRules>): MethodDecorator => SetMetadata(REQUEST_RULES, rules);
