/** A schema, or part of one, that is not validated yet. */
export type Schema = Record<string, unknown>;

/** Numeric limits of a number, a length or a count. */
const BOUNDS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
];

/** Keywords whose values are not schemas. */
export const PLAIN = ['type', 'required', 'enum', 'const', 'format', '$ref', ...BOUNDS];
export const FORMATS = ['date-time', 'date', 'uuid', 'email', 'uri'];
export const ONE_SCHEMA = ['items', 'additionalProperties'];
export const MANY_SCHEMAS = ['oneOf', 'anyOf', 'allOf'];
export const NAMED_SCHEMAS = ['properties', '$defs'];

export const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
