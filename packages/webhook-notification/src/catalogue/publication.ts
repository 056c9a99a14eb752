import { createHash } from 'node:crypto';
import { isIdempotencyKey } from '../events/idempotency-key';
import { isUserId } from '../events/user-id';
import type { EventCatalogue } from './event-catalogue';
import { serialiseData } from './event-data';

/** An event to publish. */
export interface Publication {
  name: string;
  data: unknown;
  /** The user whose subscribed webhooks receive it; null: all users. */
  userId: string | null;
  /** A request with a known key publishes no further event. 1 to 255 printable ASCII characters. */
  idempotencyKey?: string;
}

/** The JSON text of the data of a valid publication; or the error and its HTTP status. */
export type PublicationVerdict = { ok: true; text: string } | { ok: false; status: 400 | 413; problem: string };

/** Error messages that contain no values of the event. */
export const PUBLICATION_MESSAGES = {
  userIdUndefined: 'userId is present but undefined: name the user, or pass null for everybody.',
  badUserId: 'userId must be 1 to 128 of the characters A-Z a-z 0-9 . _ @ : | -',
  badIdempotencyKey: 'idempotencyKey must be 1 to 255 printable ASCII characters',
  idempotencyKeyReused: 'This idempotency key was already used for another event, audience or data.',
} as const;

export const publicationMessageFor = {
  unknownEvent: (name: string, known: readonly string[]) =>
    `There is no event named ${JSON.stringify(name.slice(0, 128))}. Known are ${known.join(', ')}.`,
  eventTooLarge: (maxBytes: number) => `data is larger than the ${maxBytes} bytes that an event may have.`,
};

/** Validates an event against the catalogue, for every publisher. */
export function judgePublication(
  catalogue: EventCatalogue,
  { name, data, userId, idempotencyKey }: Publication,
): PublicationVerdict {
  const refused = (problem: string, status: 400 | 413 = 400) => ({ ok: false, status, problem }) as const;
  if (!catalogue.find(name)) return refused(publicationMessageFor.unknownEvent(name, catalogue.publishableNames));
  if (userId !== null && !isUserId(userId)) return refused(PUBLICATION_MESSAGES.badUserId);
  if (idempotencyKey !== undefined && !isIdempotencyKey(idempotencyKey)) {
    return refused(PUBLICATION_MESSAGES.badIdempotencyKey);
  }
  const verdict = serialiseData(data);
  if (!verdict.ok) return refused(verdict.problem);
  const problem = catalogue.problemOf(name, verdict.value);
  if (problem) return refused(problem);
  if (Buffer.byteLength(verdict.text) > catalogue.maxBytes) {
    return refused(publicationMessageFor.eventTooLarge(catalogue.maxBytes), 413);
  }
  return { ok: true, text: verdict.text };
}

/**
 * Returns a SHA-256 hash that is equal for equal publications with the same idempotency key.
 * @param text the JSON text of the data
 */
export const fingerprintOf = (name: string, userId: string | null, text: string): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([name, userId, text]))
    .digest();
