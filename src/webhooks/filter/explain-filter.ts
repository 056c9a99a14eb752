import { type CompiledCondition, type CompiledOperator, compileFilter } from './compile-filter';
import type { EventFilter } from './event-filter';
import type { Operand, OperatorName } from './filter-operators';
import { type FilterableEvent, valuesOf } from './filter-path';

export interface FailedOperator {
  path: string;
  operator: OperatorName;
  expected: Operand;
  /**
   * JSON text of the value at the path, or of a list if the path leads to several values; at most 256 characters, of
   * which the last is `…` if the text was cut. Null if the path is missing.
   */
  found: string | null;
}

export interface FilterExplanation {
  matches: boolean;
  /** At most 20; empty if the event matches. */
  failed: FailedOperator[];
}

/** Maximum length of `found`, in UTF-16 code units. */
const MAX_FOUND = 256;

/**
 * Explains the result of `matches`. If `any` fails, lists the failed operators of all its alternatives. If different
 * elements of an array fulfill the operators of one condition but no element fulfills them all, lists all of these.
 */
export function explainFilter(filter: EventFilter, event: FilterableEvent): FilterExplanation {
  const { all, any } = compileFilter(filter);
  const valuesAt = valuesOf(event);
  const found = new Map<string, string | null>();
  const explain = (condition: CompiledCondition): FailedOperator[] => {
    const { path, names } = condition;
    const values = valuesAt(names);
    return failuresOf(condition, values).map(({ operator, expected }) => {
      if (!found.has(path)) found.set(path, foundText(values));
      return { path, operator, expected, found: found.get(path) ?? null };
    });
  };
  const alternatives = any.map((alternative) => alternative.flatMap(explain));
  const isAnyFulfilled = any.length === 0 || alternatives.some((failures) => failures.length === 0);
  const failed = [...all.flatMap(explain), ...(isAnyFulfilled ? [] : alternatives.flat())];
  return { matches: failed.length === 0, failed };
}

function failuresOf({ positive, negative }: CompiledCondition, values: readonly unknown[]): CompiledOperator[] {
  const contradicted = negative.filter(({ compare }) => values.some(compare));
  const isOneFulfilled = values.some((value) => positive.every(({ compare }) => compare(value)));
  if (isOneFulfilled || positive.length === 0) return contradicted;
  const unmet = positive.filter(({ compare }) => !values.some(compare));
  return [...(unmet.length > 0 ? unmet : positive), ...contradicted];
}

function foundText(values: readonly unknown[]): string | null {
  if (values.length === 0) return null;
  const text = beginningOf(values.length === 1 ? values[0] : values, MAX_FOUND);
  if (text.length <= MAX_FOUND) return text;
  // Half a surrogate pair would not be text.
  return `${text.slice(0, MAX_FOUND - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/**
 * Returns JSON text whose first `length` characters are those of `JSON.stringify(value)`; if that is longer, more than
 * `length` characters. Reads, and recurses into, no more of the value than that, except for the names of its properties.
 */
function beginningOf(value: unknown, length: number): string {
  // Any text is longer than 0 characters. This limits the depth of the recursion.
  if (length <= 0) return '…';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, length));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isArray = Array.isArray(value);
  let text = isArray ? '[' : '{';
  const append = (part: string, item: unknown): boolean => {
    text += `${text.length === 1 ? '' : ','}${part}`;
    text += beginningOf(item, length - text.length);
    return text.length <= length;
  };
  if (isArray) value.every((item) => append('', item));
  else
    Object.keys(value).every((key) => append(`${beginningOf(key, length)}:`, (value as Record<string, unknown>)[key]));
  return text + (isArray ? ']' : '}');
}
