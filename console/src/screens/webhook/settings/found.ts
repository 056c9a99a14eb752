const MOST_ELEMENTS = 100;
const MOST_CHARACTERS = 256;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns what a path of a filter leads to in an event, as JSON text; null if it is missing. See docs/filters.md. */
export function foundText(event: object, path: string): string | null {
  let values: unknown[] = [event];
  let isInArray = false;
  for (const name of path.split('.')) {
    values = values.flatMap((value) => (isObject(value) && Object.hasOwn(value, name) ? [value[name]] : []));
    const [only] = values;
    if (!isInArray && Array.isArray(only)) {
      isInArray = true;
      values = only.slice(0, MOST_ELEMENTS);
    }
    // A second array is missing.
    values = values.filter((value) => !Array.isArray(value));
  }
  if (values.length === 0) return null;
  const text = JSON.stringify(values.length === 1 ? values[0] : values);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
}

const MOST_PATHS = 60;

/** Returns the paths to the scalars of an event, for suggestions. */
export function pathsOf(value: unknown, path: string, isInArray = false): string[] {
  if (Array.isArray(value)) return isInArray ? [] : [...new Set(value.flatMap((each) => pathsOf(each, path, true)))];
  if (!isObject(value)) return [path];
  return Object.entries(value)
    .flatMap(([name, each]) => (name.includes('.') || name === '' ? [] : pathsOf(each, `${path}.${name}`, isInArray)))
    .slice(0, MOST_PATHS);
}
