import { type FieldError, invalidField } from 'webhook-notification/catalogue';

export type Scalar = string | number | boolean | null;

export interface Operators {
  eq?: Scalar;
  ne?: Scalar;
  gt?: number;
  gte?: number;
  lt?: number;
  lte?: number;
  prefix?: string;
  suffix?: string;
  exists?: boolean;
  in?: readonly Scalar[];
  nin?: readonly Scalar[];
}

export type OperatorName = keyof Operators;
/** The value that an operator compares with. */
export type Operand = Scalar | readonly Scalar[];

/** Maximum size of a filter, in bytes of JSON (UTF-8). */
export const MAX_FILTER_BYTES = 4096;
/** In JSON, each element of a list is at least one digit and a comma. */
const MAX_LIST_LENGTH = MAX_FILTER_BYTES / 2;

const WELL_FORMED = /^[^\p{Cs}\0]*$/u;
/** Completes an error message about text that PostgreSQL's jsonb rejects. */
export const NOT_STORABLE = 'must be well-formed text without NUL';
export const isStorable = (text: string): boolean => WELL_FORMED.test(text);

/** Returns a problem that completes the sentence "field …", or undefined if there is none. */
type Rule = (operand: unknown) => string | undefined;

const number: Rule = (operand) => (Number.isFinite(operand) ? undefined : 'must be a finite number');
const boolean: Rule = (operand) => (typeof operand === 'boolean' ? undefined : 'must be true or false');
const text: Rule = (operand) => {
  if (typeof operand !== 'string') return 'must be a string';
  return isStorable(operand) ? undefined : NOT_STORABLE;
};
const scalar: Rule = (operand) => {
  if (typeof operand === 'string') return text(operand);
  if (typeof operand === 'number') return number(operand);
  return operand === null || typeof operand === 'boolean' ? undefined : 'must be a string, number, boolean or null';
};
const list: Rule = (operand) => {
  if (!Array.isArray(operand)) return 'must be a list of strings, numbers, booleans and null';
  if (operand.length === 0) return 'must not be empty';
  return operand.length > MAX_LIST_LENGTH ? `is too long: a filter has at most ${MAX_FILTER_BYTES} bytes` : undefined;
};

const RULES: Record<OperatorName, Rule> = {
  ...{ eq: scalar, ne: scalar },
  ...{ gt: number, gte: number, lt: number, lte: number },
  ...{ prefix: text, suffix: text },
  exists: boolean,
  ...{ in: list, nin: list },
};

export const OPERATOR_NAMES = Object.keys(RULES) as readonly OperatorName[];

/** True for a known operator; false for inherited names such as `constructor`. */
export const isOperatorName = (name: string): name is OperatorName => Object.hasOwn(RULES, name);

/** Yields the errors of an untrusted operand, without recursion. The messages do not contain the operand. */
export function* operandErrors(name: OperatorName, operand: unknown, field: string): Generator<FieldError, void> {
  const problem = RULES[name](operand);
  if (problem !== undefined) yield invalidField(field, problem);
  else if (Array.isArray(operand)) {
    for (const [i, element] of operand.entries()) {
      const elementProblem = scalar(element);
      if (elementProblem !== undefined) yield invalidField(`${field}[${i}]`, elementProblem);
    }
  }
}

export type Comparison = (value: unknown) => boolean;

/** True for operators that no value at the path may contradict, so that a missing path fulfills them. */
export const isNegative = (name: OperatorName, operand: Operand): boolean =>
  name === 'ne' || name === 'nin' || (name === 'exists' && operand === false);

/**
 * Returns the comparison of an operator with a valid operand. For a negative operator, it is true for the values that
 * contradict the operator. Comparisons never convert types, and take constant time for lists of any length.
 */
export function comparisonOf(name: OperatorName, operand: Operand): Comparison {
  switch (name) {
    case 'eq':
    case 'ne':
      return (value) => value === operand;
    case 'in':
    case 'nin':
      return oneOf(operand as readonly Scalar[]);
    case 'gt':
      return (value) => typeof value === 'number' && value > (operand as number);
    case 'gte':
      return (value) => typeof value === 'number' && value >= (operand as number);
    case 'lt':
      return (value) => typeof value === 'number' && value < (operand as number);
    case 'lte':
      return (value) => typeof value === 'number' && value <= (operand as number);
    case 'prefix':
      return (value) => typeof value === 'string' && value.startsWith(operand as string);
    case 'suffix':
      return (value) => typeof value === 'string' && value.endsWith(operand as string);
    case 'exists':
      return () => true;
  }
}

function oneOf(scalars: readonly Scalar[]): Comparison {
  const set = new Set<unknown>(scalars);
  return (value) => set.has(value);
}
