import { isUserId } from 'webhook-notification/catalogue';

/**
 * The user in a job's `data.userId`. `none`: the job names no user; `unusable`: the value is not a valid user id;
 * `unknown`: the job was gone before it was read.
 */
export type JobUser = { is: 'named'; id: string } | { is: 'none' | 'unusable' | 'unknown'; id: null };

/** Parses a job's `data.userId`. A whole number is converted to text. */
export function jobUserOf(userId: unknown): JobUser {
  if (userId === undefined || userId === null) return { is: 'none', id: null };
  const text = Number.isSafeInteger(userId) ? String(userId) : userId;
  return typeof text === 'string' && isUserId(text) ? { is: 'named', id: text } : { is: 'unusable', id: null };
}

/**
 * Returns the audience of a job's events: the job's user; else the user of the settings (`fallback`); else all users
 * (`userId` is null). Null if the events belong to an unknown user and must not be shown to all.
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
