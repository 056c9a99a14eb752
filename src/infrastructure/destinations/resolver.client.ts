import { Resolver } from 'node:dns';
import { NameNotFoundError, ResolveTimeoutError } from './failure';

/** How long the addresses of one family wait for those of the other (RFC 8305, section 3, recommends 50 ms). */
const OTHER_FAMILY_GRACE_MS = 100;

/**
 * Resolves names with c-ares, on the event loop: with `getaddrinfo`, a slow name server could block one of the pool's
 * four threads indefinitely. It queries only DNS: /etc/hosts and search domains do not apply to the names of receivers.
 */
export class NameResolver {
  private readonly resolver: Resolver;
  private readonly underway = new Map<string, Promise<readonly string[]>>();

  /** @param dnsServers as `address[:port]`; empty uses those of the system */
  constructor(
    dnsServers: readonly string[],
    private readonly timeoutMs: number,
  ) {
    this.resolver = new Resolver({ timeout: Math.min(2000, timeoutMs), tries: 3 });
    if (dnsServers.length > 0) this.resolver.setServers(dnsServers);
  }

  /**
   * Returns all addresses of a name, IPv4 first. Concurrent calls for the same name share one lookup.
   * @throws NameNotFoundError when there is none or the servers fail, ResolveTimeoutError at the deadline
   */
  resolve(name: string): Promise<readonly string[]> {
    const known = this.underway.get(name);
    if (known !== undefined) return known;
    const lookup = this.query(name).finally(() => this.underway.delete(name));
    this.underway.set(name, lookup);
    return lookup;
  }

  /** Cancels the lookups that are still running. They end as if the name servers had failed. */
  close(): void {
    this.resolver.cancel();
  }

  private query(name: string): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const found: { ipv4: readonly string[]; ipv6: readonly string[] } = { ipv4: [], ipv6: [] };
      const failures: (string | undefined)[] = [];
      let unanswered = 2;
      const finish = () => {
        clearTimeout(timer);
        const addresses = [...found.ipv4, ...found.ipv6];
        if (addresses.length > 0) return resolve(addresses);
        reject(unanswered > 0 || failures.includes('ETIMEOUT') ? new ResolveTimeoutError() : new NameNotFoundError());
      };
      const answer =
        (family: 'ipv4' | 'ipv6') => (error: NodeJS.ErrnoException | null, addresses?: readonly string[]) => {
          unanswered -= 1;
          if (error) failures.push(error.code);
          found[family] = addresses ?? [];
          if (unanswered === 0) return finish();
          if (error === null) {
            clearTimeout(timer);
            timer = setTimeout(finish, OTHER_FAMILY_GRACE_MS);
          }
        };
      let timer = setTimeout(finish, this.timeoutMs);
      this.resolver.resolve4(name, answer('ipv4'));
      this.resolver.resolve6(name, answer('ipv6'));
    });
  }
}
