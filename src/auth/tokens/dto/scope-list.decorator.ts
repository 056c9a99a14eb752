import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn } from 'class-validator';
import { ALL_SCOPES } from '../../scope';

/** A longer list stays as it is, so that it is rejected. */
const withoutRepeats = ({ value }: { value: unknown }): unknown =>
  Array.isArray(value) && value.length <= ALL_SCOPES.length ? [...new Set(value)] : value;

/** At least one scope. A scope that is repeated counts once. */
export const IsScopes = ({ required }: { required: boolean }): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      ...{ enum: ALL_SCOPES, isArray: true, required, example: ['webhooks:read'] },
      ...{ minItems: 1, maxItems: ALL_SCOPES.length },
    }),
    Transform(withoutRepeats),
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(ALL_SCOPES.length),
    IsIn(ALL_SCOPES, { each: true, message: `scopes must be among ${ALL_SCOPES.join(', ')}` }),
  );
