import type { ObjectSchema } from 'webhook-notification/catalogue';

/** Keywords whose value is one schema, a list of schemas, or schemas by name. */
const ONE_SCHEMA = ['items', 'additionalProperties'];
const MANY_SCHEMAS = ['oneOf', 'anyOf', 'allOf'];
const NAMED_SCHEMAS = ['properties', '$defs'];
const PLAIN_NAME = /^\w+$/;

type Schema = Record<string, unknown>;

/** A schema as a part of an OpenAPI document, with its definitions as components of that document. */
export interface LiftedSchema {
  schema: Schema;
  /** Keyed by names that begin with the prefix and a hyphen. */
  components: Record<string, unknown>;
}

/**
 * Moves the `$defs` of a schema to `#/components/schemas` (OpenAPI 3.1, section 4.8.7) and rewrites its references to
 * them. Definitions are not repeated, so only the longer references make the result larger than the schema. A reference
 * to a missing definition is kept.
 * @param prefix letters, digits, `.` and `_`; unique in the document
 */
export function liftDefinitions(
  { $defs = {}, ...schema }: ObjectSchema & { $defs?: Schema },
  prefix: string,
): LiftedSchema {
  const names = Object.keys($defs);
  const nameOf = new Map(names.map((name, i) => [name, `${prefix}-${PLAIN_NAME.test(name) ? name : `.${i}`}`]));
  const links = new Map([...nameOf].map(([name, to]) => [pointerTo(name), `#/components/schemas/${to}`]));
  const definitions = Object.entries($defs).map(([name, each]) => [nameOf.get(name), relink(each, links)]);
  return { schema: relink(schema, links) as Schema, components: Object.fromEntries(definitions) as Schema };
}

/** Returns a JSON pointer to a definition (RFC 6901, section 3). */
const pointerTo = (name: string): string => `#/$defs/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function relink(schema: unknown, links: ReadonlyMap<string, string>): unknown {
  if (!isObject(schema)) return schema;
  const inner = (value: unknown) => relink(value, links);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === '$ref') return [keyword, links.get(String(value)) ?? value];
      if (ONE_SCHEMA.includes(keyword)) return [keyword, inner(value)];
      if (MANY_SCHEMAS.includes(keyword) && Array.isArray(value)) return [keyword, value.map(inner)];
      if (!NAMED_SCHEMAS.includes(keyword) || !isObject(value)) return [keyword, value];
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]))];
    }),
  );
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
