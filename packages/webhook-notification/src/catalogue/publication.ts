import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isIdempotencyKey } from '../events/idempotency-key';
import { isSubject } from '../events/subject';
import { isUserId } from '../events/user-id';
import type { EventCatalogue } from './event-catalogue';
import { serialiseData } from './event-data';
import type { FieldError } from './field-error';

/** An event to publish. */
export interface Publication {
  name: string;
  data: unknown;
  /** The user whose subscribed webhooks receive it; null: all users. */
  userId: string | null;
  /** A request with a known key publishes no further event. 1 to 255 printable ASCII characters. */
  idempotencyKey?: string;
  /** What the event is about; see `SUBJECT`. */
  subject?: string | null;
}

/** The JSON text of the data of a valid publication; or its errors. */
export type PublicationVerdict =
  | { ok: true; text: string }
  | { ok: false; code: 'validation_failed' | 'body_too_large'; errors: readonly FieldError[] };

/** Of larger data, only the first error is listed, in bytes of JSON. */
const ALL_ERRORS_UP_TO = 16_384;

/** Error messages that contain no values of the event. */
export const PUBLICATION_MESSAGES = {
  badUserId: 'userId must be 1 to 128 of the characters A-Z a-z 0-9 . _ @ : | -',
  badIdempotencyKey: 'idempotencyKey must be 1 to 255 printable ASCII characters',
  badSubject:
    'subject must be 1 to 128 visible characters, with spaces only between them: no control, format, private or unassigned characters',
  idempotencyKeyReused: 'This idempotency key was already used for another event, audience, subject or data.',
} as const;

/** A catalogue may have 500 event types. */
const MAX_LISTED = 20;

const someOf = (names: readonly string[]): string[] =>
  names.length <= MAX_LISTED
    ? [...names]
    : [...names.slice(0, MAX_LISTED), `${names.length - MAX_LISTED} others that GET /api/event-types lists`];

/** @throws TypeError without a userId: a forgotten option must not publish to all users */
export function requireUserId(options: unknown, field = 'userId'): asserts options is { userId: string | null } {
  if ((options as { userId?: unknown } | null | undefined)?.userId !== undefined) return;
  throw new TypeError(`${field} is missing: pass the id of a user, or null to publish for all users.`);
}

const eitherOf = (choices: readonly string[]): string => `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;

const HOW_TO_DECLARE = 'with POST /api/event-types or the setting EXTRA_EVENT_TYPES';

export const publicationMessageFor = {
  unknownEvent: (name: string, known: readonly string[]) =>
    `There is no event named ${JSON.stringify(name.slice(0, 128))}: declare it ${HOW_TO_DECLARE}, or use ${eitherOf(someOf(known))}.`,
  unknownEvents: (unknown: readonly string[], known: readonly string[]) => {
    const choices = [...someOf(known), 'a prefix such as follower.*', '*'];
    return `events has names that match no event type: ${unknown.join(', ')}. Declare one ${HOW_TO_DECLARE}, or use ${eitherOf(choices)}.`;
  },
  eventTooLarge: (maxBytes: number) => `data is larger than the ${maxBytes} bytes that an event may have.`,
};

/** Validates an event against the catalogue, for every publisher. */
export function validatePublication(
  catalogue: EventCatalogue,
  { name, data, userId, idempotencyKey, subject = null }: Publication,
): PublicationVerdict {
  const refused = (...errors: FieldError[]) => ({ ok: false, code: 'validation_failed', errors }) as const;
  const refuse = (field: string, message: string, code: FieldError['code'] = 'invalid') =>
    refused({ field, code, message });
  if (!catalogue.find(name)) {
    return refuse('event', publicationMessageFor.unknownEvent(name, catalogue.publishableNames), 'unknown_event_type');
  }
  if (userId !== null && !isUserId(userId)) return refuse('userId', PUBLICATION_MESSAGES.badUserId);
  if (idempotencyKey !== undefined && !isIdempotencyKey(idempotencyKey)) {
    return refuse('idempotencyKey', PUBLICATION_MESSAGES.badIdempotencyKey);
  }
  if (subject !== null && !isSubject(subject)) return refuse('subject', PUBLICATION_MESSAGES.badSubject);
  const verdict = serialiseData(data);
  if (!verdict.ok) return refuse('data', verdict.problem);
  const errors = catalogue.errorsOf(name, verdict.value);
  const bytes = Buffer.byteLength(verdict.text);
  if (errors.length > 0) return refused(...(bytes > ALL_ERRORS_UP_TO ? errors.slice(0, 1) : errors));
  if (bytes <= catalogue.maxBytes) return { ok: true, text: verdict.text };
  const message = publicationMessageFor.eventTooLarge(catalogue.maxBytes);
  return { ok: false, code: 'body_too_large', errors: [{ field: 'data', code: 'invalid', message }] };
}

/**
 * Returns a SHA-256 hash that is equal for equal publications with the same idempotency key.
 * @param text the JSON text of the data
 */
export const fingerprintOf = (
  name: string,
  userId: string | null,
  text: string,
  subject: string | null = null,
): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([name, userId, text, ...(subject === null ? [] : [subject])]))
    .digest();

/** An event with JSON text that has its `data`, and its `subject` if there is one. */
interface KeyedEvent {
  name: string;
  userId: string | null;
  body: string;
}

/**
 * Returns whether a publication repeats an earlier one whose hash differs: members of objects have no order (RFC 8259, section 4).
 * The hash itself does not change, because libraries of other versions compare it.
 */
export const isSameEvent = (a: KeyedEvent, b: KeyedEvent): boolean =>
  a.name === b.name && a.userId === b.userId && isDeepStrictEqual(contentOf(a), contentOf(b));

function contentOf({ body }: KeyedEvent): unknown {
  const { subject, data } = JSON.parse(body) as { subject?: string; data: unknown };
  return { subject, data };
}
