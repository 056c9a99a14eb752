import { type FieldError, invalidField } from 'webhook-notification/catalogue';
import { isStorable, NOT_STORABLE } from './filter-operators';

/** The part of an event that filters see. `data` is the parsed JSON. */
export interface FilterableEvent {
  event: string;
  userId: string | null;
  /** Absent when the event was published without one. */
  subject?: string | undefined;
  data: unknown;
}

/** Elements of an array that count; the others are ignored. */
export const MAX_ELEMENTS = 100;

const ROOTS: readonly string[] = ['event', 'userId', 'subject', 'data'] satisfies (keyof FilterableEvent)[];

/** Returns the error of a path that a filter must not have, or undefined. */
export function pathError(path: string, field: string): FieldError | undefined {
  if (!isStorable(path)) return invalidField(field, NOT_STORABLE);
  const [root = '', ...names] = path.split('.');
  if (!ROOTS.includes(root)) {
    const message = `${field} is not a path: paths start with event, userId, subject or data, such as data.amount`;
    return { field, code: 'unknown_field', message };
  }
  if (root !== 'data' && names.length > 0) return invalidField(field, `must end after ${root}, which is not an object`);
  if (names.includes('')) return invalidField(field, 'must have a name before and after each dot');
  return undefined;
}

/** Returns the values at a path, which is split at its dots. */
export type ValuesAt = (names: readonly string[]) => readonly unknown[];

interface Reached {
  values: readonly unknown[];
  isInArray: boolean;
  /** What paths reach that continue with a name, as far as they were asked for. */
  next: Map<string, Reached>;
}

/**
 * Returns a function that returns the values at a path: none if it is missing, otherwise one, or up to 100 if it enters
 * an array. It reads own properties of objects only. A second array is missing, as is an empty one.
 *
 * It takes each step once, however many paths of however many filters begin with it, so that the work is limited by the size of
 * the event: 20 long paths with a common beginning would otherwise read 100 elements at every level 20 times.
 */
export function valuesOf(event: FilterableEvent): ValuesAt {
  const start: Reached = { values: [event], isInArray: false, next: new Map() };
  return (names) => {
    let reached = start;
    for (const name of names) {
      let next = reached.next.get(name);
      if (!next) reached.next.set(name, (next = { ...follow(reached, name), next: new Map() }));
      reached = next;
      if (reached.values.length === 0) break;
    }
    return reached.values;
  };
}

function follow({ values, isInArray }: Reached, name: string): Omit<Reached, 'next'> {
  if (isInArray) {
    const found = values.map((value) => propertyOf(value, name));
    return { values: found.filter((value) => value !== undefined && !Array.isArray(value)), isInArray };
  }
  const value = propertyOf(values[0], name);
  if (!Array.isArray(value)) return { values: value === undefined ? [] : [value], isInArray };
  const elements: unknown[] = value.slice(0, MAX_ELEMENTS);
  return { values: elements.filter((element) => !Array.isArray(element)), isInArray: true };
}

/** Returns an own property; undefined, which JSON does not have, if there is none or the value is not an object. */
function propertyOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}
