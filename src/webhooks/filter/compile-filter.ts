import type { Condition, Conditions, EventFilter } from './event-filter';
import {
  type Comparison,
  comparisonOf,
  isNegative,
  type Operand,
  type OperatorName,
  type Operators,
} from './filter-operators';
import { type FilterableEvent, pathSplitter, type Step, valuesOf } from './filter-path';

/** One operator of a condition. */
export interface CompiledOperator {
  readonly operator: OperatorName;
  readonly expected: Operand;
  readonly compare: Comparison;
}

/** All operators on one path. */
export interface CompiledCondition {
  readonly path: string;
  readonly steps: readonly Step[];
  /** All must be true for one and the same value. */
  readonly positive: readonly CompiledOperator[];
  /** None may be true for any value. */
  readonly negative: readonly CompiledOperator[];
}

/** A filter prepared for matching. It is immutable and may be cached as long as the filter does not change. */
export interface CompiledFilter {
  /** Conditions that must all hold. */
  readonly all: readonly CompiledCondition[];
  /** Alternatives, of which one must hold; empty if the filter has no `any`. */
  readonly any: readonly (readonly CompiledCondition[])[];
}

/** Compiles a filter that `parseFilter` returned. Compile once, and match many events. */
export function compileFilter({ any = [], ...conditions }: EventFilter): CompiledFilter {
  const split = pathSplitter();
  const compileAll = (each: Conditions): CompiledCondition[] =>
    Object.entries(each).map(([path, condition]) => ({ path, steps: split(path), ...compileOperators(condition) }));
  return { all: compileAll(conditions as Conditions), any: any.map(compileAll) };
}

/**
 * Returns whether an event fulfills the filter. Compares at most 2,000 values (20 operators, 100 elements each) and
 * therefore takes less than 1 ms for an event of 96 KiB, without parsing it.
 */
export function matches({ all, any }: CompiledFilter, event: FilterableEvent): boolean {
  const valuesAt = valuesOf(event);
  const holds = (condition: CompiledCondition): boolean => isFulfilled(condition, valuesAt(condition.steps));
  return all.every(holds) && (any.length === 0 || any.some((alternative) => alternative.every(holds)));
}

const isFulfilled = ({ positive, negative }: CompiledCondition, values: readonly unknown[]): boolean =>
  !negative.some(({ compare }) => values.some(compare)) &&
  (positive.length === 0 || values.some((value) => positive.every(({ compare }) => compare(value))));

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
