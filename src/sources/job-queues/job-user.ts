import { isUserId } from '../../auth/access-token';

/** Whom a job's `data.userId` names: a user, nobody, something that is no user id; or the job was gone before it was read. */
export type JobUser = { is: 'named'; id: string } | { is: 'none' | 'unusable' | 'unknown'; id: null };

/** Reads a job's `data.userId`. A whole number is a user id too, as a text. */
export function jobUserOf(userId: unknown): JobUser {
  if (userId === undefined || userId === null) return { is: 'none', id: null };
  const text = Number.isSafeInteger(userId) ? String(userId) : userId;
  return typeof text === 'string' && isUserId(text) ? { is: 'named', id: text } : { is: 'unusable', id: null };
}

/**
 * Who gets a job's events: its user; else the queue's (`fallback`); else everybody (a `userId` of null). Null: nobody,
 * because what belongs to one user we cannot tell must not be shown to all.
 * @param queueNamesUsers has any job of this queue named a user so far?
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
