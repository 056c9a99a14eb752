import { BlockList, isIP } from 'node:net';

export type IpVersion = 4 | 6;

/** A set of IP networks of both families. */
export class NetworkSet {
  // Each family has its own list, because a BlockList compares IPv4 rules with IPv4-mapped addresses too, and
  // ::ffff:0:0/96 with every IPv4 address. Without its second argument, `check` answers false for any IPv6 address.
  private readonly lists = { 4: new BlockList(), 6: new BlockList() };

  /** @param cidrs such as `10.0.0.0/8` or `fc00::/7`; host bits are ignored, and any other text throws a TypeError */
  constructor(cidrs: readonly string[]) {
    for (const cidr of cidrs) {
      const [base = '', prefix = ''] = cidr.split('/');
      const version = isIP(base);
      if (version === 0 || !/^\d{1,3}$/.test(prefix)) throw new TypeError(`not a network: ${cidr}`);
      this.lists[version as IpVersion].addSubnet(base, Number(prefix), version === 4 ? 'ipv4' : 'ipv6');
    }
  }

  /** True when a network of the set contains the address. False for a text that is no address of this version. */
  has(address: string, version: IpVersion): boolean {
    return this.lists[version].check(address, version === 4 ? 'ipv4' : 'ipv6');
  }
}

/** True when a CIDR names a single address: /32 for IPv4, /128 for IPv6. */
export function isSingleAddress(cidr: string): boolean {
  const [base = '', prefix] = cidr.split('/');
  return prefix === (isIP(base) === 4 ? '32' : '128');
}
