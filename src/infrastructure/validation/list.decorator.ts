import { Transform } from 'class-transformer';

const toList = ({ value }: { value: unknown }): unknown => (value === undefined ? value : [...new Set([value].flat())]);

/** Converts a repeatable query parameter to a list without duplicates. */
export const ToList = (): PropertyDecorator => Transform(toList);
