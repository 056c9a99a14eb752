import { encoded } from '../api/address';
import { type Api, CallError } from '../api/call';
import type { EventRow } from '../api/types';

const ID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i;
const KINDS = ['deliveries', 'events', 'webhooks'] as const;

/** Returns the id in a text, such as a line with `webhook-id`; null without one. */
export const idIn = (text: string): string | null => ID.exec(text)?.[0].toLowerCase() ?? null;

/**
 * Returns the path of the screen of the delivery, event or webhook with the id in this text, or of the events with this subject; null
 * when the user has none.
 * @throws CallError when the service cannot say
 */
export async function placeOf(api: Api, text: string): Promise<string | null> {
  const id = idIn(text);
  return id === null ? placeOfSubject(api, text.trim()) : placeOfId(api, id);
}

async function placeOfSubject(api: Api, subject: string): Promise<string | null> {
  if (subject === '') return null;
  const rows = await api.page<EventRow>('events', { subject, limit: 2 }).then((page) => page.rows, unless(400, 403));
  if (!rows?.[0]) return null;
  return rows.length === 1 ? encoded`/events/${rows[0].id}` : encoded`/events?subject=${subject}`;
}

async function placeOfId(api: Api, id: string): Promise<string | null> {
  const places = await Promise.all(
    KINDS.map((kind) => api.get(encoded`${kind}/${id}`).then(() => encoded`/${kind}/${id}`, unless(403, 404))),
  );
  return places.find((place) => place !== null) ?? null;
}

/** Turns an answer with one of these statuses into null. */
const unless =
  (...statuses: readonly number[]) =>
  (error: unknown): null => {
    if (error instanceof CallError && statuses.includes(error.status)) return null;
    throw error;
  };
