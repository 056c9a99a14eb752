import { type FieldError, invalidField } from 'webhook-notification/catalogue';
import {
  isOperatorName,
  MAX_FILTER_BYTES,
  type Operand,
  operandErrors,
  OPERATOR_NAMES,
  type Operators,
} from './filter-operators';
import { pathError } from './filter-path';

/** A scalar means `eq`, a list means `in`. */
export type Condition = Operand | Operators;
/** Conditions by path, which must all hold. */
export type Conditions = Readonly<Record<string, Condition>>;
/** A valid filter, as stored: conditions by path, and under `any` alternatives of which one must hold. */
export interface EventFilter {
  readonly [path: string]: Condition | readonly Conditions[] | undefined;
  readonly any?: readonly Conditions[];
}

/** A valid filter, which is null if the webhook has none; or the errors of an invalid one. */
export type FilterVerdict = { ok: true; filter: EventFilter | null } | { ok: false; errors: readonly FieldError[] };

/** Maximum number of conditions, including those in `any`. Each operator counts, because each is compared separately. */
export const MAX_CONDITIONS = 20;
export const MAX_ALTERNATIVES = 5;
const MAX_ERRORS = 20;
/** Characters of a path, and of an operator's name, that an error repeats. */
const SHOWN_PATH = 60;
const SHOWN_OPERATOR = 20;

/**
 * Validates untrusted JSON of any size and depth. Returns the value itself as the filter, or 1 to 20 errors with fields
 * such as `filter["data.amount"].gt` or `filter.any[0]["data.status"][1]`. Never throws.
 */
export function parseFilter(value: unknown): FilterVerdict {
  if (value === null) return { ok: true, filter: null };
  // First, because it limits the work of all checks that follow.
  if (countConditions(value) > MAX_CONDITIONS)
    return refused(invalidField('filter', `must have at most ${MAX_CONDITIONS} conditions; each operator counts`));
  const errors: FieldError[] = [];
  for (const error of conditionsErrors(value, 'filter', true)) if (errors.push(error) === MAX_ERRORS) break;
  if (errors.length > 0) return refused(...errors);
  // Last, because JSON.stringify overflows the stack on deeply nested values, which are invalid.
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_FILTER_BYTES)
    return refused(invalidField('filter', `must have at most ${MAX_FILTER_BYTES} bytes of JSON`));
  return { ok: true, filter: value as EventFilter };
}

const refused = (...errors: FieldError[]): FilterVerdict => ({ ok: false, errors });

function countConditions(value: unknown): number {
  if (!isObject(value)) return 0;
  const alternatives = Object.hasOwn(value, 'any') && Array.isArray(value.any) ? (value.any as unknown[]) : [];
  return [value, ...alternatives.slice(0, MAX_ALTERNATIVES)]
    .filter(isObject)
    .flatMap((conditions) => Object.entries(conditions))
    .reduce((count, [path, condition]) => count + (path === 'any' ? 0 : weightOf(condition)), 0);
}

const weightOf = (condition: unknown): number => (isObject(condition) ? Object.keys(condition).length : 1);

function* conditionsErrors(value: unknown, field: string, isTop: boolean): Generator<FieldError, void> {
  if (!isObject(value)) {
    yield invalidField(field, `must be an object of conditions by path${isTop ? ', or null' : ''}`);
    return;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) yield invalidField(field, 'must have at least one condition');
  for (const [path, condition] of entries) {
    if (path !== 'any') yield* conditionErrors(path, condition, `${field}[${quote(path, SHOWN_PATH)}]`);
    else if (isTop) yield* alternativesErrors(condition, `${field}.any`);
    else yield invalidField(`${field}.any`, 'must not be inside another any');
  }
}

function* alternativesErrors(value: unknown, field: string): Generator<FieldError, void> {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ALTERNATIVES) {
    yield invalidField(field, `must be a list of 1 to ${MAX_ALTERNATIVES} objects of conditions`);
    return;
  }
  for (const [i, alternative] of value.entries()) yield* conditionsErrors(alternative, `${field}[${i}]`, false);
}

function* conditionErrors(path: string, condition: unknown, field: string): Generator<FieldError, void> {
  const error = pathError(path, field);
  if (error) yield error;
  if (Array.isArray(condition)) return yield* operandErrors('in', condition, field);
  if (!isObject(condition)) return yield* operandErrors('eq', condition, field);
  const operators = Object.entries(condition);
  if (operators.length === 0) yield invalidField(field, 'must have at least one operator');
  for (const [name, operand] of operators) {
    if (isOperatorName(name)) yield* operandErrors(name, operand, `${field}.${name}`);
    else yield unknownOperator(name, field);
  }
}

function unknownOperator(name: string, condition: string): FieldError {
  const field = `${condition}[${quote(name, SHOWN_OPERATOR)}]`;
  const message = `${field} is not an operator: the operators are ${OPERATOR_NAMES.join(', ')}`;
  return { field, code: 'unknown_field', message };
}

const quote = (text: string, shown: number): string =>
  JSON.stringify(text.length > shown ? `${text.slice(0, shown)}…` : text);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
