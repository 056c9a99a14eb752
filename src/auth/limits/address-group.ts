import { isIP } from 'node:net';
import { IPv4 } from 'ipaddr.js';
import { parseIp } from '../../infrastructure/destinations/address';

/**
 * Returns the group that an address counts in: an IPv4 address by itself, including its IPv4-mapped form (RFC 4291, section
 * 2.5.5.2), and an IPv6 address by its /64, the smallest block of an end site (RFC 6177). Null for text that is not an address.
 */
export function addressGroup(address: string): string | null {
  if (isIP(address) === 0) return null;
  const ip = parseIp(address.split('%', 1)[0] ?? '');
  if (ip instanceof IPv4) return ip.toString();
  if (ip.isIPv4MappedAddress()) return ip.toIPv4Address().toString();
  const network = ip.parts.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}
