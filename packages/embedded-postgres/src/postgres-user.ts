export interface SystemUser {
  uid: number;
  gid: number;
}

/** The users that PostgreSQL runs as when this process is root: the first of them that exists on the machine. */
export const OWN_USERS = ['webhook-notification', 'postgres'];

/**
 * Finds the user that PostgreSQL runs as in a file such as `/etc/passwd` (passwd(5)): one of `OWN_USERS`, otherwise
 * `nobody`, whose uid is 65534 or -2 on every common system.
 */
export function postgresUserIn(passwd: string): SystemUser {
  const users = passwd.split('\n').map((line) => line.split(':'));
  const own = OWN_USERS.map((name) => find(users, name)).find((user) => user !== null && user.uid !== 0);
  return own ?? nobodyIn(passwd);
}

/** Finds the user `nobody`, whose files any service that runs as `nobody` can read. */
export function nobodyIn(passwd: string): SystemUser {
  const users = passwd.split('\n').map((line) => line.split(':'));
  return find(users, 'nobody') ?? { uid: 65534, gid: 65534 };
}

function find(users: readonly string[][], name: string): SystemUser | null {
  const [, , uid, gid] = users.find(([found]) => found === name) ?? [];
  if (!isNumber(uid) || !isNumber(gid)) return null;
  // macOS writes -2, but `stat` returns and `chown` requires the unsigned number.
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}

const isNumber = (text: string | undefined): boolean => /^-?\d+$/.test(text ?? '');
