import { isIP } from 'node:net';

export interface Network {
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

const SHORTEST_PREFIX = { ipv4: 8, ipv6: 16 };
const LONGEST_PREFIX = { ipv4: 32, ipv6: 128 };

/** Parses a CIDR such as `10.0.0.0/8`. Null when the text is not a CIDR, is wider than /8 (IPv6: /16), or has a zone. */
export function parseNetwork(text: string): Network | null {
  const [address = '', bits = '', ...rest] = text.split('/');
  const version = isIP(address);
  if (rest.length > 0 || version === 0 || address.includes('%') || !/^\d{1,3}$/.test(bits)) return null;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const prefix = Number(bits);
  return prefix >= SHORTEST_PREFIX[family] && prefix <= LONGEST_PREFIX[family] ? { address, prefix, family } : null;
}

/** True for `address`, `address:port` (IPv4) and `[address]:port` (IPv6), without a zone; ports are 1 to 65535. */
export function isDnsServer(text: string): boolean {
  if (isIP(text) !== 0) return !text.includes('%');
  const [, v6, v4, port] = /^(?:\[([^\]%]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const isAddress = v6 === undefined ? isIP(v4 ?? '') === 4 : isIP(v6) === 6;
  return isAddress && Number(port) >= 1 && Number(port) <= 65_535;
}
