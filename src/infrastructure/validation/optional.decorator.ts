import { ValidateIf } from 'class-validator';

/** The field may be absent. Unlike with `@IsOptional()`, it may not be null. */
export const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);
