import { createHash } from 'node:crypto';
import { isIdempotencyKey } from '../events/idempotency-key';
import { isUserId } from '../events/user-id';
import type { EventCatalogue } from './event-catalogue';
import { serialiseData } from './event-data';

/** An event that is to be published. */
export interface Publication {
  name: string;
  data: unknown;
  /** Whose subscribed webhooks get it; null: everybody's. */
  userId: string | null;
  /** A repeat with the same key publishes no other event. 1 to 255 printable ASCII characters. */
  idempotencyKey?: string;
}

/** The JSON text of the data of a publication that is right; or why it is refused, and with which status of HTTP. */
export type PublicationVerdict = { ok: true; text: string } | { ok: false; status: 400 | 413; problem: string };

/** The sentences of refusals that say nothing of the event itself. */
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

/** Judges an event by the catalogue, whoever publishes it. */
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
 * Tells whether two publications with the same idempotency key are the same: SHA-256.
 * @param text the JSON text of the data
 */
export const fingerprintOf = (name: string, userId: string | null, text: string): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([name, userId, text]))
    .digest();
