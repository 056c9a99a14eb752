import type { Condition, Conditions, EventFilter } from './event-filter';
import {
  type Comparison,
  comparisonOf,
  isNegative,
  type Operand,
  type OperatorName,
  type Operators,
} from './filter-operators';
import type { ValuesAt } from './filter-path';

export interface CompiledOperator {
  readonly operator: OperatorName;
  readonly expected: Operand;
  readonly compare: Comparison;
}

export interface CompiledCondition {
  readonly path: string;
  readonly names: readonly string[];
  /** All must be true for one and the same value. */
  readonly positive: readonly CompiledOperator[];
  /** None may be true for any value. */
  readonly negative: readonly CompiledOperator[];
}

/** A filter prepared for matching. It is immutable and may be cached as long as the filter does not change. */
export interface CompiledFilter {
  readonly all: readonly CompiledCondition[];
  /** Alternatives, of which one must hold; empty if the filter has no `any`. */
  readonly any: readonly (readonly CompiledCondition[])[];
}

/** Compiles a filter that `parseFilter` returned. Compile once, and match many events. */
export function compileFilter({ any = [], ...conditions }: EventFilter): CompiledFilter {
  const compileAll = (each: Conditions): CompiledCondition[] =>
    Object.entries(each).map(([path, condition]) => ({ path, names: path.split('.'), ...compileOperators(condition) }));
  return { all: compileAll(conditions as Conditions), any: any.map(compileAll) };
}

/**
 * Returns whether an event fulfills the filter. Compares at most 2,000 values (20 operators, 100 elements each) and
 * therefore takes less than 1 ms for an event of 96 KiB, without parsing it.
 * @param valuesAt of the event; see `valuesOf`. Filters that share it share the work that paths with a common beginning need
 */
export function matches({ all, any }: CompiledFilter, valuesAt: ValuesAt): boolean {
  const holds = (condition: CompiledCondition): boolean => isFulfilled(condition, valuesAt(condition.names));
  return all.every(holds) && (any.length === 0 || any.some((alternative) => alternative.every(holds)));
}

function isFulfilled({ positive, negative }: CompiledCondition, values: readonly unknown[]): boolean {
  if (negative.some(({ compare }) => values.some(compare))) return false;
  const only = positive.length === 1 ? positive[0] : undefined;
  // Most conditions have one operator, which needs one call for each value.
  if (only) return values.some(only.compare);
  return positive.length === 0 || values.some((value) => positive.every(({ compare }) => compare(value)));
}

function compileOperators(condition: Condition): Pick<CompiledCondition, 'positive' | 'negative'> {
  const operands = Object.entries(operatorsOf(condition)) as [OperatorName, Operand][];
  const compiled = operands.map(([operator, expected]) => ({
    operator,
    expected,
    compare: comparisonOf(operator, expected),
  }));
  return {
    positive: compiled.filter(({ operator, expected }) => !isNegative(operator, expected)),
    negative: compiled.filter(({ operator, expected }) => isNegative(operator, expected)),
  };
}

function operatorsOf(condition: Condition): Operators {
  if (isList(condition)) return { in: condition };
  return typeof condition === 'object' && condition !== null ? condition : { eq: condition };
}

/** `Array.isArray` does not narrow to a read-only array. */
const isList = (condition: Condition): condition is Extract<Condition, readonly unknown[]> => Array.isArray(condition);
