import { isUserId } from 'webhook-notification/catalogue';

/**
 * The user in a job's `data.userId`. `none`: it names no user; `unusable`: it holds something that is no user id;
 * `unknown`: the job was gone before it was read.
 */
export type JobUser = { is: 'named'; id: string } | { is: 'none' | 'unusable' | 'unknown'; id: null };

/** Reads a job's `data.userId`. A whole number counts as its text. */
export function jobUserOf(userId: unknown): JobUser {
  if (userId === undefined || userId === null) return { is: 'none', id: null };
  const text = Number.isSafeInteger(userId) ? String(userId) : userId;
  return typeof text === 'string' && isUserId(text) ? { is: 'named', id: text } : { is: 'unusable', id: null };
}

/**
 * Who gets a job's events: the job's user; else the user of the settings (`fallback`); else everybody (`userId` is
 * null). Null: nobody, because the events belong to a user that is not known and must not be shown to all.
 * @param queueNamesUsers whether any job of this queue has named a user so far
 */
export function jobAudienceOf(
  user: JobUser,
  fallback: string | null,
  queueNamesUsers: boolean,
): { userId: string | null } | null {
  if (user.is === 'named') return { userId: user.id };
  if (fallback !== null) return { userId: fallback };
  const mayBelongToOne = user.is === 'unusable' || (user.is === 'unknown' && queueNamesUsers);
  return mayBelongToOne ? null : { userId: null };
}
