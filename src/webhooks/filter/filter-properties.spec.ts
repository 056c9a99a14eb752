import fc from 'fast-check';
import { compileFilter, matches } from './compile-filter';
import { type EventFilter, parseFilter } from './event-filter';
import { explainFilter } from './explain-filter';
import { type FilterableEvent, valuesOf } from './filter-path';

type Json = Record<string, unknown>;

/** The rules of docs/filters.md, written independently of the implementation, for clarity instead of speed. */
const naive = {
  matches(filter: Json, event: Json): boolean {
    return Object.keys(filter).every((key) => {
      if (key !== 'any') return naive.holds(filter[key], naive.look(event, key.split('.'), false));
      return (filter.any as Json[]).some((alternative) => naive.matches(alternative, event));
    });
  },

  /** Descends one name or one array at a time; a dead end has no values. */
  look(value: unknown, names: string[], isInArray: boolean): unknown[] {
    if (Array.isArray(value)) {
      const found: unknown[] = [];
      for (let i = 0; i < 100 && i < value.length && !isInArray; i++) found.push(...naive.look(value[i], names, true));
      return found;
    }
    if (names.length === 0) return [value];
    if (value === null || typeof value !== 'object') return [];
    const property = Object.entries(value).find(([name]) => name === names[0]);
    return property ? naive.look(property[1], names.slice(1), isInArray) : [];
  },

  holds(condition: unknown, values: unknown[]): boolean {
    if (Array.isArray(condition)) return values.some((value) => condition.includes(value));
    if (condition === null || typeof condition !== 'object') return values.includes(condition);
    const { ne, nin, exists, ...others } = condition as Json;
    if (exists === false && values.length > 0) return false;
    if (ne !== undefined && values.includes(ne)) return false;
    if (nin !== undefined && (nin as unknown[]).some((scalar) => values.includes(scalar))) return false;
    if (exists !== true && Object.keys(others).length === 0) return true;
    return values.some((value) => Object.entries(others).every(([name, operand]) => naive.test(name, operand, value)));
  },

  test(name: string, operand: unknown, value: unknown): boolean {
    if (name === 'eq') return value === operand;
    if (name === 'in') return (operand as unknown[]).includes(value);
    if (name === 'prefix' || name === 'suffix') {
      const [text, part] = [value, operand as string];
      if (typeof text !== 'string' || text.length < part.length) return false;
      return (name === 'prefix' ? text.slice(0, part.length) : text.slice(text.length - part.length)) === part;
    }
    if (typeof value !== 'number') return false;
    const difference = value - (operand as number);
    return { gt: difference > 0, gte: difference >= 0, lt: difference < 0, lte: difference <= 0 }[name]!;
  },
};

const names = fc.constantFrom('a', 'a', 'b', 'b', '0', '__proto__', 'length', 'constructor');
const scalars = fc.constantFrom<string | number | boolean | null>(null, true, false, 0, 1, 2, '', '1', '2', 'ab', 'b');

/** JSON text, because only JSON.parse makes `__proto__` an own property. */
const { value: values, object: objects } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    { arbitrary: scalars.map((scalar) => JSON.stringify(scalar)), weight: 2 },
    { arbitrary: tie('object'), weight: 2 },
    { arbitrary: tie('array'), weight: 2 },
  ),
  object: fc
    .array(fc.tuple(names, tie('value')), { maxLength: 5 })
    .map((fields) => `{${fields.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join()}}`),
  array: fc
    .tuple(fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 98, 99, 100), fc.array(tie('value'), { maxLength: 4 }))
    .map(([zeros, elements]) => `[${[...Array<number>(zeros).fill(0), ...elements].join()}]`),
}));
const events = fc.record({
  event: fc.constantFrom('ab', 'b'),
  userId: fc.constantFrom(null, '1'),
  data: fc.oneof({ arbitrary: objects, weight: 9 }, values).map((text) => JSON.parse(text) as unknown),
});

const numbers = fc.constantFrom(-1, 0, 1, 1.5, 2);
const parts = fc.constantFrom('', '1', 'a', 'b', 'ab');

/** Conditions whose operands are mostly values at the path. Otherwise, hardly any event would match. */
function conditionOn(values: readonly unknown[]): fc.Arbitrary<unknown> {
  const present = values.filter((value) => value === null || typeof value !== 'object') as (string | number)[];
  const operand =
    present.length > 0 ? fc.oneof({ arbitrary: fc.constantFrom(...present), weight: 3 }, scalars) : scalars;
  const list = fc.array(operand, { minLength: 1, maxLength: 4 });
  const all = fc.record({
    ...{ eq: operand, ne: operand, in: list, nin: list, exists: fc.boolean() },
    ...{ gt: numbers, gte: numbers, lt: numbers, lte: numbers, prefix: parts, suffix: parts },
  });
  const operators = all.chain((each) => fc.subarray(Object.entries(each), { minLength: 1, maxLength: 2 }));
  return fc.oneof(operand, list, { arbitrary: operators.map((entries) => Object.fromEntries(entries)), weight: 3 });
}

/** Paths of the event, up to a random depth, so that many of them exist. */
function pathsOf(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((element) => pathsOf(element, path));
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, field]) => pathsOf(field, `${path}.${name}`))];
}

function conditionsFor(event: FilterableEvent): fc.Arbitrary<Json> {
  const existing = fc.constantFrom('event', 'userId', ...new Set(pathsOf(event.data, 'data')));
  const invented = fc.array(names, { maxLength: 3 }).map((more) => ['data', ...more].join('.'));
  const condition = fc
    .oneof({ arbitrary: existing, weight: 4 }, invented)
    .chain((path) => fc.tuple(fc.constant(path), conditionOn(naive.look(event, path.split('.'), false))));
  return fc.array(condition, { minLength: 1, maxLength: 2 }).map((entries) => Object.fromEntries(entries) as Json);
}

const pairs = events.chain((event) => {
  const conditions = conditionsFor(event);
  const any = fc.array(conditions, { minLength: 1, maxLength: 3 }).map((alternatives) => ({ any: alternatives }));
  const filters = fc.oneof(
    conditions,
    any,
    fc.tuple(conditions, any).map(([all, one]) => ({ ...all, ...one })),
  );
  return fc.tuple(filters, fc.constant(event));
});

describe('Filters', () => {
  it('match as the rules say and as explainFilter explains, for 10,000 filters and events', () => {
    const results = { true: 0, false: 0 };
    fc.assert(
      fc.property(pairs, ([filter, event]) => {
        const expected = naive.matches(filter, event);
        results[`${expected}`]++;
        const explanation = explainFilter(filter as EventFilter, event);
        expect([
          parseFilter(filter).ok,
          matches(compileFilter(filter as EventFilter), valuesOf(event)),
          explanation.matches,
          explanation.failed.length === 0,
        ]).toEqual([true, expected, expected, expected]);
      }),
      { numRuns: 10_000 },
    );
    // The property would prove little if nearly all filters had the same result.
    expect(Math.min(results.true, results.false)).toBeGreaterThan(1000);
  });

  it('are validated without throwing, whatever the JSON', () => {
    const values = fc.oneof(
      fc.jsonValue(),
      pairs.map(([filter]) => filter),
      fc.dictionary(fc.string(), fc.jsonValue()),
    );
    fc.assert(
      fc.property(values, (value) => {
        const verdict = parseFilter(value);
        if (verdict.ok) expect(verdict.filter).toBe(value);
        else expect(verdict.errors.length).toBeGreaterThan(0);
      }),
      { numRuns: 2000 },
    );
  });
});
