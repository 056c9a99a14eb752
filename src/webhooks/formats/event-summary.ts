import { type NativeEvent, parsedBody } from './native-event';

const MAX_FIELDS = 20;
/** In UTF-16 units. With these, one line fits every platform, even if escaping multiplies it. */
const MAX_LENGTH = { description: 200, name: 100, value: 400, title: 128, time: 32, id: 64 };

/** A field of an event's data: its dot path and its value, both visible text without any escaping. */
export interface Field {
  name: string;
  value: string;
}

/** What a chat message tells about an event, without any escaping. */
export interface EventSummary {
  title: string;
  description: string | null;
  /** The first fields, at most 20. */
  fields: Field[];
  /** The number of all fields. */
  fieldCount: number;
  time: string;
  id: string;
}

/** An object or array whose fields are being listed. */
interface OpenNode {
  path: string;
  /** Null for an array, whose fields have numbers. */
  names: string[] | null;
  values: unknown[];
  next: number;
}

const opened = (path: string, node: object): OpenNode =>
  Array.isArray(node)
    ? { path, names: null, values: node, next: 0 }
    : { path, names: Object.keys(node), values: Object.values(node), next: 0 };

const hasFields = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && (Array.isArray(value) ? value : Object.keys(value)).length > 0;

const valueText = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? visibleText(value, MAX_LENGTH.value) : JSON.stringify(value);

/** Lists the first fields in the order of the JSON text and counts the rest. No recursion: data may be nested deeply. */
function fieldsOf(data: object): Pick<EventSummary, 'fields' | 'fieldCount'> {
  const fields: Field[] = [];
  let fieldCount = 0;
  const open = [opened('', data)];
  for (let node = open.at(-1); node; node = open.at(-1)) {
    if (node.next === node.values.length) {
      open.pop();
      continue;
    }
    const index = node.next++;
    const value = node.values[index];
    const nested = hasFields(value);
    if (!nested) fieldCount++;
    const listed = fields.length < MAX_FIELDS;
    const path = listed ? `${node.path}${node.path && '.'}${node.names ? node.names[index] : index}` : '';
    if (nested) open.push(opened(path, value));
    else if (listed) fields.push({ name: visibleText(path, MAX_LENGTH.name), value: valueText(value) });
  }
  return { fields, fieldCount };
}

/** Returns what a chat message tells about an event: bounded, visible text. Throws SyntaxError for an invalid body. */
export function summaryOf(event: NativeEvent): EventSummary {
  const { id, event: name, createdAt, data } = parsedBody(event);
  return {
    title: visibleText(name, MAX_LENGTH.title),
    description: event.description && visibleText(event.description, MAX_LENGTH.description),
    ...fieldsOf(data),
    time: visibleText(createdAt, MAX_LENGTH.time),
    id: visibleText(id, MAX_LENGTH.id),
  };
}

/**
 * Renders the fields in order as long as their sizes sum up to at most `budget`, in the unit of `sizeOf`. `more` says how
 * many fields of the event are missing, null if none is.
 */
export function fittingFields<T>(
  { fields, fieldCount }: EventSummary,
  { budget, render, sizeOf }: { budget: number; render: (field: Field) => T; sizeOf: (rendered: T) => number },
): { rendered: T[]; more: string | null } {
  const rendered: T[] = [];
  let size = 0;
  for (const field of fields) {
    const next = render(field);
    size += sizeOf(next);
    if (size > budget) break;
    rendered.push(next);
  }
  const missing = fieldCount - rendered.length;
  return { rendered, more: missing > 0 ? `… and ${missing} more` : null };
}

const REPLACEMENT = '\ufffd';
const ELLIPSIS = '…';

// The classes are Unicode's own lists: controls, lone surrogates, line and paragraph separators, Bidi_Control, and all
// that renders as nothing (zero-width characters, soft hyphen, fillers, tags). Annotation anchors are missing there.
// A variation selector after an emoji stays: it selects between two visible glyphs.
const HIDDEN =
  /(?!(?<=\p{Emoji})[\ufe0e\ufe0f])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** In UTF-16 units. A longer cluster is a pile of combining marks, which may be cut between two of them. */
const MAX_CLUSTER = 32;
const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Returns the last position up to `limit` that is not inside a character as people see it (UAX #29). */
function boundaryUpTo(limit: number, text: string): number {
  const start = clusters.segment(text).containing(limit)?.index ?? limit;
  if (limit - start <= MAX_CLUSTER) return start;
  return text.codePointAt(limit - 1)! > 0xffff ? limit - 1 : limit;
}

/**
 * Returns the text as one line in which every character is visible: each control (line breaks and tabs too),
 * bidirectional control, zero-width or otherwise invisible character and each lone surrogate becomes U+FFFD. The result
 * has at most `maxLength` UTF-16 units (2 or more). A longer text is cut between two characters and ends with `…`.
 * The cost depends on `maxLength`, not on the length of the text.
 */
export function visibleText(text: string, maxLength: number): string {
  // Two units become at least one, so a cut text is still too long afterwards, and a pair cut here is not shown.
  const visible = text.slice(0, 2 * maxLength + 2).replaceAll(HIDDEN, REPLACEMENT);
  if (visible.length <= maxLength) return visible;
  return visible.slice(0, boundaryUpTo(maxLength - 1, visible)) + ELLIPSIS;
}
