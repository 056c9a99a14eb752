import { ValidateIf } from 'class-validator';

/** The field may be absent. Unlike `@IsOptional()` it may not be null. */
export const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);
