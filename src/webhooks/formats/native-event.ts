/** An event as it is stored, and the facts about it that a format may show. */
export interface NativeEvent {
  /** The stored body: the JSON of `{ id, event, createdAt, subject?, data }`. */
  body: string;
  /** The user whom the event is for; null for everybody. */
  userId: string | null;
  /** One line about the event type, from the catalogue; null if there is none. */
  description: string | null;
}

export interface NativeBody {
  id: string;
  /** At most 128 of `a-z 0-9 _ .`. */
  event: string;
  /** ISO 8601, UTC, with milliseconds. */
  createdAt: string;
  /** Absent when the event was published without one. */
  subject?: string;
  data: Record<string, unknown>;
}

/** Parses the stored body. Throws SyntaxError if it is not JSON, which no stored body is. */
export const parsedBody = ({ body }: NativeEvent): NativeBody => JSON.parse(body) as NativeBody;
