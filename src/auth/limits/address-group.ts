import { isIP } from 'node:net';
import { groupsOf } from '../../plumbing/destinations/embedded-ipv4';

const IPV4_MAPPED = [0, 0, 0, 0, 0, 0xffff];

/**
 * The group that an address counts in: an IPv4 address alone, also as an IPv4-mapped one (RFC 4291, section 2.5.5.2),
 * and an IPv6 address with its /64, the least that an end site is given (RFC 6177). Null for text that is no address.
 */
export function addressGroup(address: string): string | null {
  const version = isIP(address);
  if (version !== 6) return version === 4 ? address : null;
  const groups = groupsOf(address.split('%', 1)[0] ?? '');
  const [high = 0, low = 0] = groups.slice(6);
  if (IPV4_MAPPED.every((group, i) => groups[i] === group)) {
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}
