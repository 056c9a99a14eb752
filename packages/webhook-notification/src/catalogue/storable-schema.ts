import { isDeepStrictEqual } from 'node:util';
import type { ObjectSchema } from './built-in-types';
import { isExact } from './exact-json';
import { FORMATS, isObject, MANY_SCHEMAS, NAMED_SCHEMAS, ONE_SCHEMA, PLAIN, type Schema } from './schema-keywords';
import { schemaProblem } from './schema-rules';

/** Without the second keyword, the first would reject values that the second had allowed. */
const NEEDS: Record<string, string> = { items: 'prefixItems', additionalProperties: 'patternProperties' };

/**
 * Returns the part of a schema that the service can store: without patterns and other unsupported keywords. It accepts
 * all data that the whole schema accepts; the application validates against the whole one.
 */
export function storableSchema(schema: ObjectSchema): ObjectSchema {
  const candidates = LOOSER.map((dropped) => {
    const plain = PLAIN.filter((keyword) => !dropped.includes(keyword));
    return loosen(schema, plain) as ObjectSchema;
  });
  return candidates.find((candidate) => schemaProblem(candidate) === null) ?? { type: 'object' };
}

/** Keywords that are dropped, in this order, until the rest can be stored: long lists of values, then references. */
const LOOSER = [[], ['enum', 'const'], ['$ref'], ['enum', 'const', '$ref']];

function loosen(schema: unknown, plain: readonly string[]): unknown {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return {};
  const inner = (value: unknown) => loosen(value, plain);
  const kept: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const needed = NEEDS[keyword];
    if (needed !== undefined && needed in schema) continue;
    // No data has numbers beyond such a bound, which could not be stored exactly.
    if (typeof value === 'number' && !isExact(value)) continue;
    if (keyword === 'format' && !FORMATS.includes(String(value))) continue;
    if (plain.includes(keyword)) kept[keyword] = value;
    else if (ONE_SCHEMA.includes(keyword)) kept[keyword] = inner(value);
    else if (MANY_SCHEMAS.includes(keyword) && Array.isArray(value)) kept[keyword] = value.map(inner);
    else if (NAMED_SCHEMAS.includes(keyword) && isObject(value)) {
      kept[keyword] = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]));
    }
  }
  return oneOfLoosened(schema, kept);
}

/** More than one loosened alternative may match, so they become `anyOf`; an existing `anyOf` is sufficient. */
function oneOfLoosened(schema: Schema, { oneOf, ...kept }: Schema): Schema {
  if (oneOf === undefined) return kept;
  if (isDeepStrictEqual(oneOf, schema.oneOf)) return { ...kept, oneOf };
  return { anyOf: oneOf, ...kept };
}
