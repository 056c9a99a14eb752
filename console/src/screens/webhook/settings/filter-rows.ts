export const OPERATORS = ['eq', 'ne', 'in', 'nin', 'gt', 'gte', 'lt', 'lte', 'prefix', 'suffix', 'exists'] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Condition {
  path: string;
  operator: Operator;
  /** As one types it: `5` is a number, `"5"` and `paid` are texts, lists have commas. */
  value: string;
}

export type Filter = Record<string, unknown>;

const isObject = (value: unknown): value is Filter =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isOperator = (name: string): name is Operator => OPERATORS.some((each) => each === name);
const isList = (operator: Operator): boolean => operator === 'in' || operator === 'nin';

/**
 * Returns the filter that these conditions make; null without any.
 * @returns the index of a condition that repeats an operator for the same path, if there is one
 */
export function filterOf(rows: readonly Condition[]): { filter: Filter | null } | { repeated: number } {
  const byPath = new Map<string, Map<Operator, unknown>>();
  for (const [index, { path, operator, value }] of rows.entries()) {
    const operators = byPath.get(path.trim()) ?? new Map<Operator, unknown>();
    if (operators.has(operator)) return { repeated: index };
    byPath.set(path.trim(), operators.set(operator, isList(operator) ? listOf(value) : scalarOf(value)));
  }
  const entries = [...byPath].map(([path, operators]) => [path, shortest(operators)] as const);
  return { filter: entries.length === 0 ? null : Object.fromEntries(entries) };
}

/** A bare scalar means `eq`, a bare list `in`. */
function shortest(operators: ReadonlyMap<Operator, unknown>): unknown {
  if (operators.size === 1 && operators.has('eq')) return operators.get('eq');
  if (operators.size === 1 && operators.has('in')) return operators.get('in');
  return Object.fromEntries(operators);
}

/** Returns the conditions of a filter; null if rows cannot show it, as with `any`. */
export function conditionsOf(filter: Filter | null): Condition[] | null {
  const rows: Condition[] = [];
  for (const [path, condition] of Object.entries(filter ?? {})) {
    if (path === 'any' || path !== path.trim()) return null;
    const operators = isObject(condition) ? condition : { [Array.isArray(condition) ? 'in' : 'eq']: condition };
    for (const [name, operand] of Object.entries(operators)) {
      if (!isOperator(name) || Array.isArray(operand) !== isList(name) || isObject(operand)) return null;
      rows.push({ path, operator: name, value: [operand].flat().map(textOf).join(', ') });
    }
  }
  return rows;
}

/** Returns the text that `scalarOf` reads as this value. */
function textOf(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const isPlain = value !== '' && value === value.trim() && !/[",]/.test(value) && scalarOf(value) === value;
  return isPlain ? value : JSON.stringify(value);
}

function scalarOf(text: string): unknown {
  const trimmed = text.trim();
  try {
    const value: unknown = JSON.parse(trimmed);
    return (typeof value === 'object' && value !== null) || value === Infinity || value === -Infinity ? trimmed : value;
  } catch {
    return trimmed;
  }
}

// A text in quotes, which may hold commas, or everything up to the next comma.
const ELEMENT = /\s*(?:"(?:[^"\\]|\\.)*"(?=\s*(?:,|$))|[^,]+)/g;

const listOf = (text: string): unknown[] =>
  (text.match(ELEMENT) ?? []).flatMap((each) => (each.trim() === '' ? [] : [scalarOf(each)]));
