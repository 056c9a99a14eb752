/** An event as it is stored, and the facts about it that a format may show. */
export interface NativeEvent {
  /** The stored body: the JSON of `{ id, event, createdAt, subject?, data }`. */
  body: string;
  /** The user whom the event is for; null for everybody. */
  userId: string | null;
  /** One line about the event type, from the catalogue; null if there is none. */
  description: string | null;
}

export interface NativeHead {
  id: string;
  /** At most 128 of `A-Z a-z 0-9 _ . -`. */
  event: string;
  /** ISO 8601, UTC, with milliseconds. */
  createdAt: string;
  /** Absent when the event was published without one. */
  subject?: string;
}

export interface NativeBody extends NativeHead {
  data: Record<string, unknown>;
}

/** Parses the stored body. Throws SyntaxError if it is not JSON, which no stored body is. */
export const parsedBody = ({ body }: Pick<NativeEvent, 'body'>): NativeBody => JSON.parse(body) as NativeBody;

/** What precedes the data, which is the last member. A string in the head cannot contain it: its quotes would be escaped. */
const BEFORE_DATA = ',"data":';

/**
 * Divides a stored body at its data, without parsing that: numbers, escapes and the order of keys stay as they are. `end` is the
 * index of the bracket that closes the body. Throws SyntaxError if there is no data, as in no stored body.
 */
export function partsOf(body: string): { head: string; dataAt: number; end: number } {
  const headEnd = body.indexOf(BEFORE_DATA);
  if (headEnd === -1 || !body.endsWith('}')) throw new SyntaxError('The stored body of an event has no data.');
  return { head: body.slice(0, headEnd), dataAt: headEnd + BEFORE_DATA.length, end: body.length - 1 };
}

/** Returns the text of the data in a stored body. Throws SyntaxError if there is none. */
export function dataOf(body: string): string {
  const { dataAt, end } = partsOf(body);
  return body.slice(dataAt, end);
}

/** Returns the members before the data. Throws SyntaxError if they are not JSON. */
export const headOf = (body: string): NativeHead => JSON.parse(`${partsOf(body).head}}`) as NativeHead;
