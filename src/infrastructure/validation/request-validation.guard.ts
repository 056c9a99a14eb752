import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal.js';
import { ModuleRef } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { FieldError } from 'webhook-notification/catalogue';
import { ApiError } from '../errors/api-error';
import { BODY_PARSER, type BodyParser } from './parsed-body.decorator';
import { detailsOf, DtoPipe } from './dto.pipe';
import { type ParsedParam, PATH_PARAMS } from './path-param.decorator';
import { REQUEST_RULES, type RequestRules, type RuleRequest } from './request-rules.decorator';

type Part = 'params' | 'query' | 'body';

/** A validation of one part of a request. It returns the part as the handler receives it, or throws an ApiError with details. */
type Validation = { part: Part; parse: (value: unknown, request: FastifyRequest) => unknown };

/**
 * Validates the path, query, headers and body of every request, and rejects it with all errors at once. Handlers receive
 * the parsed values. A guard, because Nest's pipes see one parameter each, and the first error would hide the others.
 */
@Injectable()
export class RequestValidationGuard implements CanActivate {
  private readonly dtos = new DtoPipe();
  private readonly validations = new WeakMap<object, readonly Validation[]>();

  constructor(private readonly modules: ModuleRef) {}

  /** @throws ApiError 400 that lists up to 20 errors */
  async canActivate(context: ExecutionContext): Promise<true> {
    const request = context.switchToHttp().getRequest<FastifyRequest & RuleRequest>();
    const { body } = request;
    const errors: FieldError[] = [];
    for (const { part, parse } of this.validationsOf(context)) {
      try {
        request[part] = await parse(request[part], request);
      } catch (error) {
        errors.push(...detailsOf(error).map((each) => ({ ...each, field: `${PREFIXES[part]}${each.field}` })));
      }
    }
    const rules = Reflect.getMetadata(REQUEST_RULES, context.getHandler()) as Type<RequestRules> | undefined;
    if (rules && isObject(body)) {
      const invalid = new Set(errors.map(({ field }) => field.split(/[.[]/, 1)[0]));
      const fields = Object.fromEntries(Object.entries(body).filter(([name]) => !invalid.has(name)));
      errors.push(...(await this.modules.get(rules, { strict: false }).errorsOf(fields, request)));
    }
    if (errors.length > 0) throw ApiError.invalid(...errors);
    return true;
  }

  private validationsOf(context: ExecutionContext): readonly Validation[] {
    const handler = context.getHandler();
    const known = this.validations.get(handler);
    if (known) return known;
    const found = [...pathValidations(handler), ...this.dtoValidations(context), ...bodyValidations(handler)];
    this.validations.set(handler, found);
    return found;
  }

  /** Reads the DTO classes where Nest's `@Body()` and `@Query()` keep them. */
  private dtoValidations(context: ExecutionContext): Validation[] {
    const [controller, name] = [context.getClass(), context.getHandler().name];
    const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<
      string,
      { index: number }
    >;
    const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, name) ?? []) as Type[];
    return Object.entries(args).flatMap(([key, { index }]) => {
      const part = PARTS[key.split(':', 1)[0] ?? ''];
      const metatype = types[index];
      if (!part || !metatype || BY_PARSERS.includes(metatype)) return [];
      const type = part === 'body' ? 'body' : 'query';
      return [{ part, parse: (value: unknown) => this.dtos.transform(value, { type, metatype }) }];
    });
  }
}

const PARTS: Record<string, Part> = { [RouteParamtypes.BODY]: 'body', [RouteParamtypes.QUERY]: 'query' };
/** The types of bodies that no DTO describes. */
const BY_PARSERS: readonly unknown[] = [Object, Array];
const PREFIXES = { params: 'path.', query: 'query.', body: '' };

function pathValidations(handler: object): Validation[] {
  const known = (Reflect.getMetadata(PATH_PARAMS, handler) ?? []) as ParsedParam[];
  return known.map(({ name, parse }) => ({
    part: 'params',
    parse: (value) => {
      const params = value as Record<string, string>;
      return { ...params, [name]: parse(params[name] ?? '') };
    },
  }));
}

function bodyValidations(handler: object): Validation[] {
  const parse = Reflect.getMetadata(BODY_PARSER, handler) as BodyParser | undefined;
  return parse ? [{ part: 'body', parse }] : [];
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
