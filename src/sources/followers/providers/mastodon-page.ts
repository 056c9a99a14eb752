import { type Follower, isName } from '../follower';

/** What `GET /api/v1/accounts/lookup` says about an account. */
export interface MastodonAccount {
  readonly id: string;
  readonly followersCount: number;
}

/** Reads an `Account` entity; null when the body is something else. */
export function readMastodonAccount(body: unknown): MastodonAccount | null {
  const { id, followers_count: count } = (body ?? {}) as { id?: unknown; followers_count?: unknown };
  return isName(id) ? { id, followersCount: typeof count === 'number' ? count : 0 } : null;
}

/**
 * Reads a list of `Account` entities; null when the body is something else. An `acct` without a server is an account on
 * `host`.
 */
export function readMastodonFollowers(body: unknown, host: string): Follower[] | null {
  if (!Array.isArray(body)) return null;
  const followers = (body as unknown[]).map((account) => readFollower(account, host));
  return followers.every((follower) => follower !== null) ? followers : null;
}

function readFollower(account: unknown, host: string): Follower | null {
  const { id, acct, display_name: name } = (account ?? {}) as { id?: unknown; acct?: unknown; display_name?: unknown };
  if (!isName(id) || !isName(acct)) return null;
  const username = acct.includes('@') ? acct : `${acct}@${host}`;
  return isName(name) ? { id, username, displayName: name } : { id, username };
}
