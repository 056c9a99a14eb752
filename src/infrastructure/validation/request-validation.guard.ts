import {
  type ArgumentMetadata,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type Type,
  type ValidationError,
  ValidationPipe,
} from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal.js';
import { ModuleRef } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { FieldError } from 'webhook-notification/catalogue';
import { ApiError, unknownField } from '../errors/api-error';
import {
  BODY_PARSER,
  type BodyParser,
  type ParsedParam,
  PATH_PARAMS,
  REQUEST_RULES,
  type RequestRules,
  type RuleRequest,
} from './api-request.decorator';
import { type FieldParser, parsersOf } from './api-field.decorator';

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

/** Validates a body or a query against its DTO. It rejects unknown fields, and never guesses a conversion. */
class DtoPipe extends ValidationPipe {
  constructor() {
    super({
      whitelist: true,
      forbidNonWhitelisted: true,
      forbidUnknownValues: true,
      transform: true,
      stopAtFirstError: true,
      exceptionFactory: (errors) => ApiError.invalid(...fieldErrorsOf(errors)),
    });
  }

  /**
   * Fields with a parser of their own never meet class-transformer. Nor do those that every object inherits, such as
   * `constructor`, which class-validator would treat as known.
   */
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const parsers = metadata.metatype ? parsersOf(metadata.metatype) : {};
    const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    const [parsed, others] = partition(fields, ([name]) => name in Object.prototype || Object.hasOwn(parsers, name));
    if (parsed.length === 0) return super.transform(value, metadata) as Promise<unknown>;
    const errors: FieldError[] = [];
    const results: Record<string, unknown> = {};
    for (const [name, field] of parsed) {
      try {
        results[name] = parserOf(parsers, name)(field);
      } catch (error) {
        errors.push(...detailsOf(error));
      }
    }
    const dto: unknown = await super
      .transform(Object.fromEntries(others), metadata)
      .catch((error: unknown) => void errors.push(...detailsOf(error)));
    if (errors.length > 0) throw ApiError.invalid(...errors);
    return Object.assign(dto as object, results);
  }
}

const partition = <Item>(items: readonly Item[], fits: (item: Item) => boolean): [Item[], Item[]] => [
  items.filter(fits),
  items.filter((item) => !fits(item)),
];

function parserOf(parsers: Record<string, FieldParser>, name: string): FieldParser {
  if (Object.hasOwn(parsers, name)) return parsers[name] as FieldParser;
  throw ApiError.invalid(unknownField(name));
}

/** Returns the invalid fields of a rejected request; throws any other error. */
function detailsOf(error: unknown): readonly FieldError[] {
  if (error instanceof ApiError && error.details) return error.details;
  throw error;
}

function fieldErrorsOf(errors: readonly ValidationError[], path = ''): FieldError[] {
  return errors.flatMap(({ property, value, constraints = {}, children = [] }) => {
    const field = `${path}${property}`;
    const own = Object.entries(constraints).map(([rule, text]): FieldError => {
      if (rule === 'whitelistValidation') return unknownField(field);
      return { field, code: value === undefined ? 'required' : 'invalid', message: `${path}${text}` };
    });
    return [...own, ...fieldErrorsOf(children, `${field}.`)];
  });
}
