import type { SeededRandom } from '../../support/seeded-random';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  example?: unknown;
}

export interface Operation {
  parameters?: { name: string; in: 'path' | 'query' | 'header'; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema; examples?: Record<string, { value: unknown }> }> };
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: Schema }> }>;
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface GeneratedRequest {
  method: string;
  /** As in the document, to look the operation up; a method that is not there is no operation. */
  route: string;
  path: string;
  headers: Record<string, string | string[]>;
  body?: Buffer;
}

/** Values of fields, and of `{parameters}`, whose meaning a schema cannot tell. A url never leads away from this machine. */
export interface Vocabulary {
  fields: Record<string, readonly unknown[]>;
  ids: readonly string[];
  /** Parameters of a route that lead to something, newest last. */
  places: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;
  tokens: readonly string[];
}

const STRINGS = [
  ...['', ' ', '\u0000', 'a\nb', '\u001b[31m', '<script>alert(1)</script>', '\ud800', '💥'.repeat(50), "' or 1=1 --"],
  ...[
    '%00',
    '../../etc/passwd',
    '${jndi:x}',
    '__proto__',
    'constructor',
    '-1',
    'NaN',
    'null',
    'true',
    'x'.repeat(5000),
  ],
];
const VALUES = [null, true, false, 0, -1, 1.5, 1e308, [], {}, [[]], [null], { a: { b: [] } }, ...STRINGS];
const RAW_BODIES = ['', '{', '[]', 'null', '"text"', '{}{}', 'NaN', '{"a":1e400}', '\u0000', '[['.repeat(3000)];
const SEGMENTS = ['1', "'", '..%2f', '%00', '%ZZ', '%', '%C3%28', 'a'.repeat(101), '%F0%9F%92%A5', '-', ' ', '%0d%0a'];
const TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/xml',
  'nonsense',
  'application/json; charset=x',
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND'];
const BAD_AUTHORIZATIONS = ['', 'Bearer', 'Bearer x', 'Basic YTpi', `Bearer wns_${'a'.repeat(43)}`, 'x'.repeat(5000)];

/** Requests out of an OpenAPI document: some valid, some valid but for one thing, some absurd. */
export class OpenApiRequests {
  private readonly operations: { route: string; method: string; operation: Operation }[];

  constructor(
    private readonly document: OpenApi,
    private readonly random: SeededRandom,
    private readonly vocabulary: Vocabulary,
  ) {
    this.operations = Object.entries(document.paths).flatMap(([route, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ route, method: method.toUpperCase(), operation })),
    );
  }

  /** @param wanted operations, as `GET /api/me`, of which every other request is one; none: all are alike */
  next(wanted: readonly string[]): GeneratedRequest {
    const { random } = this;
    const some = this.operations.filter((each) => wanted.includes(`${each.method} ${each.route}`));
    const { route, method, operation } = random.pick(some.length > 0 && this.chance(0.5) ? some : this.operations);
    // How many things about it are wrong.
    const errors = this.chance(0.4) ? 0 : this.chance(0.7) ? 1 : 6;
    const wrong = () => errors > 0 && this.chance(errors / 6);
    return {
      route,
      method: wrong() && this.chance(0.3) ? random.pick(METHODS) : method,
      path: this.path(route, wrong) + this.query(operation, wrong),
      ...this.content(operation, wrong),
    };
  }

  private chance(share: number): boolean {
    return this.random.next() < share;
  }

  private below(limit: number): number {
    return this.random.between(0, limit - 1);
  }

  private uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.below(16).toString(16)).join('');
    return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-7$3-8$4-$5');
  }

  private path(route: string, wrong: () => boolean): string {
    const place = (this.chance(0.5) && this.vocabulary.places[route]?.at(-1)) || {};
    const filled = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      if (wrong()) return this.random.pick(SEGMENTS).replaceAll(' ', '%20');
      const named = this.vocabulary.fields[`{${name}}`];
      if (named) return String(this.random.pick(named));
      return place[name] ?? (this.chance(0.8) ? this.random.pick(this.vocabulary.ids) : this.uuid());
    });
    return wrong() && this.chance(0.1) ? `${filled}/${this.random.pick(['', 'x', '%00', '..'])}` : filled;
  }

  private query({ parameters = [] }: Operation, wrong: () => boolean): string {
    const pairs = parameters
      .filter((parameter) => parameter.in === 'query' && this.chance(0.25))
      .flatMap(({ name, schema }) =>
        [wrong() ? this.random.pick(VALUES) : this.valid(schema, name)]
          .flat()
          .map((one): [string, unknown] => [name, one]),
      );
    if (wrong())
      pairs.push([this.random.pick(['unknown', '__proto__', 'limit[]', 'limit', 'a.b']), this.random.pick(VALUES)]);
    const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeValue(value)}`).join('&');
    return text === '' ? '' : `?${text}`;
  }

  private content(operation: Operation, wrong: () => boolean): Pick<GeneratedRequest, 'headers' | 'body'> {
    const { random, vocabulary } = this;
    const headers: Record<string, string | string[]> = {
      authorization: wrong() ? random.pick(BAD_AUTHORIZATIONS) : `Bearer ${random.pick(vocabulary.tokens)}`,
    };
    for (const { name, in: place } of operation.parameters ?? []) {
      if (place === 'header' && this.chance(0.3)) headers[name] = wrong() ? 'x'.repeat(300) : `key-${this.below(50)}`;
    }
    if (wrong()) headers['x-request-id'] = random.pick(['<script>', 'x'.repeat(500), 'a b']);
    if (wrong()) headers['content-encoding'] = 'gzip';
    const body = this.body(operation, wrong);
    if (body !== undefined) headers['content-length'] = String(body.length);
    if (body !== undefined) headers['content-type'] = wrong() ? random.pick(TYPES) : 'application/json';
    return { headers, body };
  }

  private body({ requestBody }: Operation, wrong: () => boolean): Buffer | undefined {
    const media = requestBody?.content['application/json'];
    if (!media) return wrong() && this.chance(0.5) ? Buffer.from(this.random.pick(RAW_BODIES)) : undefined;
    if (wrong()) return this.rawBody();
    const examples = Object.values(media.examples ?? {});
    const valid =
      examples.length > 0 && this.chance(0.5) ? this.random.pick(examples).value : this.valid(media.schema, '');
    return Buffer.from(JSON.stringify(wrong() ? this.spoil(valid) : valid));
  }

  private rawBody(): Buffer | undefined {
    if (this.chance(0.1)) return undefined;
    if (this.chance(0.1)) return Buffer.from('x'.repeat(200_000));
    if (this.chance(0.1)) return Buffer.from([0xff, 0xfe, 0x7b, 0x00]);
    return Buffer.from(this.chance(0.5) ? this.random.pick(RAW_BODIES) : JSON.stringify(this.random.pick(VALUES)));
  }

  /** The value with one thing in it taken out, replaced or added. */
  private spoil(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || this.chance(0.1)) return this.random.pick(VALUES);
    const copy = structuredClone(value) as Record<string, unknown>;
    const keys = Object.keys(copy);
    if (keys.length === 0 || this.chance(0.2)) {
      return { ...copy, [this.random.pick(['extra', 'id', 'userId', 'secret_hash', 'toString', 'constructor'])]: 1 };
    }
    const key = this.random.pick(keys);
    if (this.chance(0.3)) delete copy[key];
    else copy[key] = this.spoil(copy[key]);
    return copy;
  }

  private valid(schema: Schema, name: string): unknown {
    const { random } = this;
    const known = this.vocabulary.fields[name];
    if (known && this.chance(0.9)) return random.pick(known);
    if (schema.$ref) return this.valid(this.document.components.schemas[schema.$ref.split('/').at(-1)!]!, name);
    if (schema.anyOf) return this.valid(random.pick(schema.anyOf), name);
    if (schema.enum) return random.pick(schema.enum);
    const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
    switch (type) {
      case 'object':
        return this.validObject(schema);
      case 'array': {
        const length = (schema.minItems ?? 0) + this.below(3);
        return Array.from({ length }, () => this.valid(schema.items ?? {}, name));
      }
      case 'string':
        return this.validString(schema);
      case 'integer':
      case 'number':
        return (schema.minimum ?? 0) + this.below((schema.maximum ?? 1000) - (schema.minimum ?? 0) + 1);
      case 'boolean':
        return this.chance(0.5);
      default:
        return null;
    }
  }

  private validObject({ properties = {}, required = [] }: Schema): Record<string, unknown> {
    const chosen = Object.entries(properties).filter(([name]) => required.includes(name) || this.chance(0.4));
    return Object.fromEntries(chosen.map(([name, schema]) => [name, this.valid(schema, name)]));
  }

  private validString({ format, minLength = 1, maxLength = 40 }: Schema): string {
    if (format === 'uuid') return this.random.pick(this.vocabulary.ids);
    if (format === 'date-time') return new Date(Date.now() - this.below(1e9)).toISOString();
    const length = this.random.pick([minLength, Math.min(maxLength, minLength + this.below(40)), maxLength]);
    return Array.from({ length }, () => this.random.pick(['a', 'Z', '7', '-', 'é'])).join('');
  }
}

function encodeValue(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // A lone surrogate has no encoding.
  return encodeURIComponent(Buffer.from(text).toString());
}
