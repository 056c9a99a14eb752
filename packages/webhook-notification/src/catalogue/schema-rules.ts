import { serialiseData } from './event-data';
import { FORMATS, isObject, MANY_SCHEMAS, NAMED_SCHEMAS, ONE_SCHEMA, PLAIN, type Schema } from './schema-keywords';

const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$comment'];
const IGNORED = ['$schema', ...ANNOTATIONS];
const DEFINITIONS = 'schema.$defs';
const DEFINITION = /^#\/\$defs\/([^/]+)$/;
/** Each value of the data is compared with the value of such a keyword, or with each of its values. */
const COMPARED = ['enum', 'const'];

/** Maximum size of a schema, and of an example, as JSON, in bytes. */
export const MAX_BYTES = 16 * 1024;
const MAX_DEPTH = 16;
const MAX_PARTS = 500;
/**
 * Maximum number of parts of a stored schema that is compiled. Version 0.2 did not count the values of `enum`, of which
 * 16 KB hold fewer than 10,000: only repeated references exceed this.
 */
const MAX_STORED_PARTS = 10_000;

/**
 * Returns why a schema from the API is rejected, with its path; null when it is accepted. Such a schema runs on the
 * event loop that all users share, so each value of the data must cost a bounded time: no regular expressions, no
 * comparison of each item with each other item, and at most 500 parts. A part is a keyword, a schema without keywords,
 * a value of `enum`, or a member of such a value. The parts of a definition count once for each `$ref` to it: a few
 * references to references would expand to an endless schema.
 */
export function schemaProblem(schema: unknown): string | null {
  const verdict = serialiseData(schema);
  if (!verdict.ok) return verdict.problem.replace('data', 'schema');
  if (Buffer.byteLength(verdict.text) > MAX_BYTES) return `schema is larger than ${MAX_BYTES} bytes`;
  if (!isObject(schema)) return 'schema must be a JSON object';
  if (schema.type !== 'object') return 'schema.type must be "object"';
  return checked(schema, MAX_PARTS).problem;
}

/** Returns true when compiling a schema, which version 0.2 may have stored, would block the process. */
export const isTooLargeToCompile = (schema: object): boolean => checked({ ...schema }, MAX_STORED_PARTS).isTooLarge;

function checked(schema: Schema, maxParts: number): SchemaCheck {
  const check = new SchemaCheck(isObject(schema.$defs) ? schema.$defs : {}, maxParts);
  check.schema(schema, 'schema', 1);
  return check;
}

class SchemaCheck {
  problem: string | null = null;
  isTooLarge = false;
  private parts = 0;
  private readonly within = new Set<string>();

  constructor(
    private readonly defs: Schema,
    private readonly maxParts: number,
  ) {}

  schema(schema: unknown, path: string, depth: number): void {
    if (this.problem !== null) return;
    if (typeof schema === 'boolean') return this.count(path, 1);
    if (!isObject(schema)) return this.refuse(path, 'must be a schema');
    if (depth > MAX_DEPTH) return this.refuse(path, `is more than ${MAX_DEPTH} levels deep`);
    const keywords = Object.entries(schema).filter(([keyword]) => !IGNORED.includes(keyword));
    if (keywords.length === 0) return this.count(path, 1);
    for (const [keyword, value] of keywords) this.keyword(keyword, value, `${path}.${keyword}`, depth);
  }

  private keyword(keyword: string, value: unknown, path: string, depth: number): void {
    if (this.problem !== null) return;
    this.count(path, COMPARED.includes(keyword) ? 1 + membersOf(value) : 1);
    if (ONE_SCHEMA.includes(keyword)) return this.schema(value, path, depth + 1);
    if (MANY_SCHEMAS.includes(keyword)) return this.list(value, path, depth);
    if (NAMED_SCHEMAS.includes(keyword)) return this.named(value, path, depth);
    if (!PLAIN.includes(keyword)) return this.refuse(path, 'is not a keyword that a schema may have here');
    if (keyword === 'format' && !FORMATS.includes(String(value))) {
      return this.refuse(path, `must be one of ${FORMATS.join(', ')}`);
    }
    if (keyword === '$ref') this.reference(value, path, depth);
  }

  private list(value: unknown, path: string, depth: number): void {
    if (!Array.isArray(value)) return this.refuse(path, 'must be a list of schemas');
    value.forEach((each, i) => this.schema(each, `${path}.${i}`, depth + 1));
  }

  private named(value: unknown, path: string, depth: number): void {
    if (!isObject(value)) return this.refuse(path, 'must be an object of schemas');
    const counted = this.parts;
    for (const [name, each] of Object.entries(value)) {
      // A definition costs nothing by itself, only where a `$ref` refers to it.
      if (path === DEFINITIONS) this.parts = 0;
      this.schema(each, `${path}.${name}`, depth + 1);
    }
    if (path === DEFINITIONS) this.parts = counted;
  }

  private reference(value: unknown, path: string, depth: number): void {
    const name = definitionOf(value);
    if (name === undefined || !Object.hasOwn(this.defs, name)) return this.refuse(path, 'must lead to one of $defs');
    if (this.within.has(name)) return this.refuse(path, 'leads to itself');
    this.within.add(name);
    this.schema(this.defs[name], path, depth + 1);
    this.within.delete(name);
  }

  private count(path: string, parts: number): void {
    this.parts += parts;
    this.isTooLarge ||= this.parts > this.maxParts;
    if (this.isTooLarge) this.refuse(path, `exceeds the limit of ${this.maxParts} keywords and enum values`);
  }

  private refuse(path: string, why: string): void {
    this.problem ??= `${path} ${why}`;
  }
}

/** Counts the members of a value at all levels. Recursion is safe, because `serialiseData` has limited the depth. */
const membersOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? (Object.values(value) as unknown[]).reduce<number>((count, member) => count + 1 + membersOf(member), 0)
    : 0;

/** Returns the name in `$defs` that a `$ref` refers to; undefined for other references. */
const definitionOf = (ref: unknown): string | undefined =>
  DEFINITION.exec(String(ref))?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
