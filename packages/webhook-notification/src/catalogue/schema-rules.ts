import { serialiseData } from './event-data';
import { FORMATS, isObject, MANY_SCHEMAS, NAMED_SCHEMAS, ONE_SCHEMA, PLAIN, type Schema } from './schema-keywords';
import { definitionOf } from './schema-references';

const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$comment'];
const IGNORED = ['$schema', ...ANNOTATIONS];

/** The most bytes that a schema, and an example, may have as JSON. */
export const MAX_BYTES = 16 * 1024;
const MAX_DEPTH = 16;
const MAX_KEYWORDS = 500;

/**
 * Why a schema that comes over the API cannot be taken, with its path; null when it can. Such a schema is run on everybody's
 * event loop, so it may hold only what takes a time in proportion to the data: no regular expressions, no comparison of each
 * with each. What a `$ref` leads to counts wherever it stands: a few references to references would be an endless schema.
 */
export function schemaProblem(schema: unknown): string | null {
  const verdict = serialiseData(schema);
  if (!verdict.ok) return verdict.problem.replace('data', 'schema');
  if (Buffer.byteLength(verdict.text) > MAX_BYTES) return `schema is larger than ${MAX_BYTES} bytes`;
  if (!isObject(schema)) return 'schema must be a JSON object';
  if (schema.type !== 'object') return 'schema.type must be "object"';
  const judge = new Judge(isObject(schema.$defs) ? schema.$defs : {});
  judge.schema(schema, 'schema', 1);
  return judge.problem;
}

class Judge {
  problem: string | null = null;
  private keywords = 0;
  private readonly within = new Set<string>();

  constructor(private readonly defs: Schema) {}

  schema(schema: unknown, path: string, depth: number): void {
    if (this.problem !== null || typeof schema === 'boolean') return;
    if (!isObject(schema)) return this.refuse(path, 'must be a schema');
    if (depth > MAX_DEPTH) return this.refuse(path, `is more than ${MAX_DEPTH} levels deep`);
    for (const [keyword, value] of Object.entries(schema)) this.keyword(keyword, value, `${path}.${keyword}`, depth);
  }

  private keyword(keyword: string, value: unknown, path: string, depth: number): void {
    if (this.problem !== null || IGNORED.includes(keyword)) return;
    this.keywords += 1;
    if (this.keywords > MAX_KEYWORDS) return this.refuse(path, `is one of more than ${MAX_KEYWORDS} keywords`);
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
    for (const [name, each] of Object.entries(value)) this.schema(each, `${path}.${name}`, depth + 1);
  }

  private reference(value: unknown, path: string, depth: number): void {
    const name = definitionOf(value);
    if (name === undefined || !Object.hasOwn(this.defs, name)) return this.refuse(path, 'must lead to one of $defs');
    if (this.within.has(name)) return this.refuse(path, 'leads to itself');
    this.within.add(name);
    this.schema(this.defs[name], path, depth + 1);
    this.within.delete(name);
  }

  private refuse(path: string, why: string): void {
    this.problem ??= `${path} ${why}`;
  }
}
