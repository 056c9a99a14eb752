import { type ReceivedHeaders, valuesOf } from './headers';

/** The bodies of deliveries that the library reads, by the `format` of their webhook. */
export type ReceivedFormat = 'native' | 'payload' | 'standard';

/** The event of a delivery. */
export interface ReceivedEvent<Data = Record<string, unknown>> {
  id: string;
  event: string;
  createdAt: string;
  /** What the event is about; absent when it was published without a subject. */
  subject?: string;
  data: Data;
}

/**
 * The event of a delivery in the format `payload`, whose body is the data alone. No signature covers the name and the subject of
 * the event: whoever recorded a delivery can send it again under another name.
 */
export interface ReceivedPayload<Data = unknown> {
  /** `webhook-id`, which is signed. */
  id: string;
  event: null;
  createdAt: null;
  data: Data;
  /** From headers; null where they are missing. */
  unsigned: { event: string | null; subject: string | null };
}

/**
 * Returns the event of a verified delivery.
 * @param body the parsed body
 * @param prefix of the headers of the service
 */
export function receivedEvent(
  format: ReceivedFormat,
  body: unknown,
  headers: ReceivedHeaders,
  prefix: string,
): ReceivedEvent | ReceivedPayload {
  if (format === 'native') return body as ReceivedEvent;
  const id = valuesOf(headers, 'webhook-id')[0] ?? '';
  if (format === 'standard') {
    const { type, timestamp, data } = body as { type: string; timestamp: string; data: Record<string, unknown> };
    return { id, event: type, createdAt: timestamp, data };
  }
  const [event = null] = valuesOf(headers, `${prefix}-event`);
  const [subject = null] = valuesOf(headers, `${prefix}-subject`);
  return { id, event: null, createdAt: null, data: body, unsigned: { event, subject: subject && decoded(subject) } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
