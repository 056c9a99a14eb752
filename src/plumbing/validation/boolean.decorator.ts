import { Transform } from 'class-transformer';

const toBoolean = ({ value }: { value: unknown }): unknown => ({ true: true, false: false })[String(value)] ?? value;

/** Reads `true` and `false` of a query. Anything else stays as it is, for `@IsBoolean` to refuse. */
export const ToBoolean = (): PropertyDecorator => Transform(toBoolean);
