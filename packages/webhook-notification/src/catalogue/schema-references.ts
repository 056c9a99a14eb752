import type { ObjectSchema } from './built-in-types';
import { isObject, MANY_SCHEMAS, ONE_SCHEMA, type Schema } from './schema-keywords';

const DEFINITION = /^#\/\$defs\/([^/]+)$/;

/** The name in `$defs` that a `$ref` leads to; undefined when it leads elsewhere. */
export const definitionOf = (ref: unknown): string | undefined =>
  DEFINITION.exec(String(ref))?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');

/**
 * The same schema with what its references lead to in their places, so that it can be part of another document, whose root
 * has other `$defs`. A reference to itself, or to what is not there, stays.
 */
export function withoutReferences({ $defs = {}, ...schema }: ObjectSchema & { $defs?: Schema }): ObjectSchema {
  return resolve(schema, $defs, []) as ObjectSchema;
}

function resolve(schema: unknown, defs: Schema, within: readonly string[]): unknown {
  if (!isObject(schema)) return schema;
  const inner = (value: unknown) => resolve(value, defs, within);
  const { $ref, ...others } = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (ONE_SCHEMA.includes(keyword)) return [keyword, inner(value)];
      if (MANY_SCHEMAS.includes(keyword)) return [keyword, (value as unknown[]).map(inner)];
      if (keyword !== 'properties') return [keyword, value];
      return [keyword, Object.fromEntries(Object.entries(value as Schema).map(([name, each]) => [name, inner(each)]))];
    }),
  );
  if ($ref === undefined) return others;
  const name = definitionOf($ref);
  if (name === undefined || within.includes(name) || !Object.hasOwn(defs, name)) return { $ref, ...others };
  const found = resolve(defs[name], defs, [...within, name]);
  return Object.keys(others).length === 0
    ? found
    : { ...others, allOf: [found, ...((others.allOf ?? []) as unknown[])] };
}
