import type { Resolver } from 'node:dns';
import { NameNotFoundError, NameServersFailedError, type NotConnectedError, ResolveTimeoutError } from './failure';
import { FollowedFile } from './followed-file.client';
import { isAnswer, NameServers } from './name-servers.client';
import {
  candidatesFor,
  type Hosts,
  parseHosts,
  parseResolverConfig,
  type ResolverConfig,
  withoutDot,
} from './resolver-files';

/** How long the addresses of one family wait for those of the other (RFC 8305, section 3, recommends 50 ms). */
const OTHER_FAMILY_GRACE_MS = 100;

/** The files of the system that name servers and hosts. */
export interface SystemFiles {
  readonly hosts: string;
  readonly resolverConfig: string;
}

const SYSTEM_FILES: SystemFiles = { hosts: '/etc/hosts', resolverConfig: '/etc/resolv.conf' };

/** The result of a look-up: the addresses of a name, none, or why no server answered. */
type Answer = readonly string[] | 'none' | 'late' | 'failed';

/**
 * Resolves names as the system does, but with c-ares, on the event loop: with `getaddrinfo`, a slow name server could block one of
 * the pool's four threads indefinitely. First /etc/hosts, then DNS; search domains apply only to names without a dot.
 */
export class NameResolver {
  private readonly servers: NameServers;
  private readonly hosts: FollowedFile<Hosts>;
  private readonly config: FollowedFile<ResolverConfig>;
  private readonly underway = new Map<string, Promise<readonly string[]>>();

  /** @param dnsServers as `address[:port]`; empty uses those of the system */
  constructor(
    dnsServers: readonly string[],
    private readonly timeoutMs: number,
    files: SystemFiles = SYSTEM_FILES,
  ) {
    this.hosts = new FollowedFile<Hosts>(files.hosts, (text) => parseHosts(text ?? ''), new Map());
    this.config = new FollowedFile<ResolverConfig>(
      files.resolverConfig,
      (text, before) => (text === null ? before : parseResolverConfig(text)),
      parseResolverConfig(''),
    );
    this.servers = new NameServers(dnsServers, this.config, timeoutMs);
  }

  /**
   * Returns all addresses of a name, IPv4 first. Concurrent calls for the same name share one lookup.
   * @throws NameNotFoundError when there is none, ResolveTimeoutError at the deadline, NameServersFailedError when the servers of
   *   this service do not answer for the root of DNS either
   */
  resolve(name: string): Promise<readonly string[]> {
    const known = this.underway.get(name);
    if (known !== undefined) return known;
    const lookup = this.lookUp(name).finally(() => this.underway.delete(name));
    this.underway.set(name, lookup);
    return lookup;
  }

  serversFail(): Promise<boolean> {
    return this.servers.areDown();
  }

  close(): void {
    this.servers.close();
  }

  private async lookUp(name: string): Promise<readonly string[]> {
    const listed = this.hosts.current().get(withoutDot(name.toLowerCase()));
    if (listed) return listed;
    const deadlineAt = performance.now() + this.timeoutMs;
    let answer: Answer = 'none';
    for (const candidate of candidatesFor(name, this.config.current().search)) {
      if (answer !== 'none') break;
      answer = await this.ask(candidate, deadlineAt);
    }
    if (typeof answer === 'string') throw await this.errorOf(answer);
    this.servers.answered();
    return answer;
  }

  private async errorOf(answer: Exclude<Answer, readonly string[]>): Promise<NotConnectedError> {
    if (answer === 'none') return new NameNotFoundError();
    if (await this.serversFail()) return new NameServersFailedError();
    return answer === 'late' ? new ResolveTimeoutError() : new NameNotFoundError();
  }

  private async ask(name: string, deadlineAt: number): Promise<Answer> {
    let answer: Answer = 'failed';
    for (const resolver of this.servers.inTurn()) {
      if (answer !== 'failed') break;
      answer = await query(resolver, name, deadlineAt - performance.now());
    }
    return answer;
  }
}

function query(resolver: Resolver, name: string, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve) => {
    const found: { ipv4: readonly string[]; ipv6: readonly string[] } = { ipv4: [], ipv6: [] };
    const failures: (string | undefined)[] = [];
    let unanswered = 2;
    const finish = () => {
      clearTimeout(timer);
      const addresses = [...found.ipv4, ...found.ipv6];
      if (addresses.length > 0) return resolve(addresses);
      if (unanswered > 0 || failures.includes('ETIMEOUT')) return resolve('late');
      resolve(failures.every(isAnswer) ? 'none' : 'failed');
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
    let timer = setTimeout(finish, timeoutMs);
    resolver.resolve4(name, answer('ipv4'));
    resolver.resolve6(name, answer('ipv6'));
  });
}
