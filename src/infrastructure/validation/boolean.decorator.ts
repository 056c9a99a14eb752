import { Transform } from 'class-transformer';

const toBoolean = ({ value }: { value: unknown }): unknown => ({ true: true, false: false })[String(value)] ?? value;

/** Converts `true` and `false` of a query. Any other value stays unchanged, so that `@IsBoolean` rejects it. */
export const ToBoolean = (): PropertyDecorator => Transform(toBoolean);
