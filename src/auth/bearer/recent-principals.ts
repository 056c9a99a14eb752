import type { Principal } from '../access-token';

const WINDOW_MS = 100;
/** In each window, this many requests with a token are looked up before the remembered principal is used. */
const LOOKED_UP_FIRST = 5;

interface Recent {
  principal: Principal;
  presented: number;
}

/**
 * Remembers the principals of tokens that are presented again and again within a tenth of a second. The token of a busy
 * client is then looked up some fifty times a second instead of at every request.
 */
export class RecentPrincipals {
  private readonly recent = new Map<string, Recent>();
  private windowBeganAt = -Infinity;
  private forgotten = 0;

  /** @param now a clock in ms that never goes back */
  constructor(private readonly now: () => number) {}

  /** The remembered principal of the token with this unique key; null when the token must be looked up. */
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

  /** Begins a lookup. The returned function remembers its result, unless a token was revoked meanwhile. */
  lookingUp(): (key: string, principal: Principal) => void {
    const { forgotten } = this;
    return (key, principal) => {
      if (forgotten !== this.forgotten) return;
      const presented = this.recent.get(key)?.presented ?? 1;
      this.recent.set(key, { principal, presented });
    };
  }

  /** Forgets everything, and the results of lookups under way too, because a token was revoked. */
  forget(): void {
    this.forgotten += 1;
    this.recent.clear();
  }
}
