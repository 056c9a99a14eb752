import { isIP } from 'node:net';
import { isDnsServer } from './network';

/** What `/etc/resolv.conf` says: name servers as `address`, and the domains that a name without a dot is looked for in. */
export interface ResolverConfig {
  readonly servers: readonly string[];
  readonly search: readonly string[];
}

/** Parses resolv.conf(5). The last of several `search` or `domain` lines counts. Ignores everything else. Never throws. */
export function parseResolverConfig(text: string): ResolverConfig {
  const servers: string[] = [];
  let search: readonly string[] = [];
  for (const [keyword, ...values] of wordsOf(text, /[#;].*/)) {
    if (keyword === 'nameserver' && isDnsServer(values[0] ?? '')) servers.push(values[0]!);
    else if (keyword === 'search') search = values;
    else if (keyword === 'domain') search = values.slice(0, 1);
  }
  return { servers, search: search.map(withoutDot).filter((domain) => domain !== '') };
}

/** The addresses of each name, in lower case. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

/** Parses hosts(5): the addresses of each name, IPv4 first. Never throws. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const [address = '', ...names] of wordsOf(text, /#.*/)) {
    if (isIP(address) === 0) continue;
    for (const name of names.map((each) => withoutDot(each.toLowerCase()))) {
      const addresses = hosts.get(name);
      if (addresses) addresses.push(address);
      else hosts.set(name, [address]);
    }
  }
  for (const addresses of hosts.values()) addresses.sort((a, b) => isIP(a) - isIP(b));
  return hosts;
}

/** Returns the names to look up for a name, in order: one without a dot is looked for in the search domains first. */
export const candidatesFor = (name: string, search: readonly string[]): string[] =>
  name.includes('.') ? [name] : [...search.map((domain) => `${name}.${domain}`), name];

export const withoutDot = (name: string): string => name.replace(/\.$/, '');

const wordsOf = (text: string, comment: RegExp): string[][] =>
  text.split('\n').map((line) => line.replace(comment, '').trim().split(/\s+/));
