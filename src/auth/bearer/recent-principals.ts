import type { Principal } from '../access-token';

const WINDOW_MS = 100;
/** A token that is presented less often is looked up every time. */
const LOOKED_UP_FIRST = 5;

interface Recent {
  principal: Principal;
  presented: number;
}

/**
 * Remembers for a tenth of a second whose token it is, of those that are presented again and again in it: what a busy client
 * presents is looked up some fifty times a second instead of at every request.
 */
export class RecentPrincipals {
  private readonly recent = new Map<string, Recent>();
  private windowBeganAt = -Infinity;
  private forgotten = 0;

  /** @param now a clock in ms that never goes back */
  constructor(private readonly now: () => number) {}

  /** @param key of the token, unique */
  find(key: string): Principal | null {
    if (this.now() - this.windowBeganAt >= WINDOW_MS) {
      this.recent.clear();
      this.windowBeganAt = this.now();
    }
    const found = this.recent.get(key);
    if (!found) return null;
    found.presented += 1;
    return found.presented > LOOKED_UP_FIRST ? found.principal : null;
  }

  /** Begins a lookup. What it hands back takes the answer; in vain, if a token was revoked meanwhile. */
  lookingUp(): (key: string, principal: Principal) => void {
    const { forgotten } = this;
    return (key, principal) => {
      if (forgotten !== this.forgotten) return;
      const presented = this.recent.get(key)?.presented ?? 1;
      this.recent.set(key, { principal, presented });
    };
  }

  /** A token has been revoked. */
  forget(): void {
    this.forgotten += 1;
    this.recent.clear();
  }
}
