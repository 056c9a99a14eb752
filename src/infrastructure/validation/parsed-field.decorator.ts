import type { Type } from '@nestjs/common';
import { applyDecorators } from '@nestjs/common';
import { Allow } from 'class-validator';

const PARSERS = 'validation:field-parsers';

/** Returns the field as the handler receives it. Throws an `ApiError` with details that lists every error. */
export type FieldParser = (value: unknown) => unknown;

/**
 * Validates a field by this function, if the request has it. For fields whose keys users choose: class-transformer throws
 * at a key such as `constructor`.
 */
export const ParsedField = (parse: FieldParser): PropertyDecorator =>
  applyDecorators(Allow(), (target: object, name: string | symbol) => {
    const parsers = { ...parsersOf(target.constructor as Type), [name]: parse };
    Reflect.defineMetadata(PARSERS, parsers, target.constructor);
  });

/** Returns the parsers of a DTO by field, with those that it inherits. */
export const parsersOf = (dto: Type): Record<string, FieldParser> =>
  (Reflect.getMetadata(PARSERS, dto) ?? {}) as Record<string, FieldParser>;
