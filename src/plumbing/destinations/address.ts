import { isIP } from 'node:net';
import { embeddedIpv4s } from './embedded-ipv4';
import { type IpVersion, isSingleAddress, NetworkSet } from './network-set';
import {
  CLOUD_METADATA,
  CLOUD_METADATA_RULE,
  GLOBAL_IPV6,
  NAMED_IPV6,
  SPECIAL_GLOBAL_IPV6,
  SPECIAL_IPV4,
  type SpecialNetwork,
  UNNAMED_IPV6_RULE,
} from './special-networks';

/** `rule` names the kind of network in a sentence ("loopback"). It never holds the address. */
export type AddressVerdict = { readonly allowed: true } | { readonly allowed: false; readonly rule: string };

const ALLOWED: AddressVerdict = { allowed: true };

const specialIpv4 = new NetworkSet(SPECIAL_IPV4.map(({ cidr }) => cidr));
const globalIpv6 = new NetworkSet([GLOBAL_IPV6]);
const specialGlobalIpv6 = new NetworkSet(SPECIAL_GLOBAL_IPV6.map(({ cidr }) => cidr));
const metadata = new NetworkSet(CLOUD_METADATA);
const named = [...SPECIAL_IPV4, ...NAMED_IPV6, ...SPECIAL_GLOBAL_IPV6].map(withSet);

/**
 * Decides which IP addresses deliveries may reach: the public ones, and the special-purpose ones (IANA registries, RFC
 * 6890) in an allowed network. A cloud metadata address needs an entry of its own (/32 or /128). An IPv6 address that
 * contains an IPv4 address is allowed only if that IPv4 address is allowed too.
 */
export class AddressPolicy {
  private readonly allowed: NetworkSet;
  private readonly allowedSingles: NetworkSet;

  /** @param allowedNetworks CIDRs of either family; a text that is no CIDR throws a TypeError */
  constructor(allowedNetworks: readonly string[]) {
    this.allowed = new NetworkSet(allowedNetworks);
    this.allowedSingles = new NetworkSet(allowedNetworks.filter(isSingleAddress));
  }

  /** Judges an address in any text form. A text that is no address, or has a zone id, is denied. Never throws. */
  judge(address: string): AddressVerdict {
    switch (isIP(address)) {
      case 4:
        return specialIpv4.has(address, 4) ? this.judgeSpecial(address, 4) : ALLOWED;
      case 6:
        return address.includes('%') ? { allowed: false, rule: 'address with a zone' } : this.judgeIpv6(address);
      default:
        return { allowed: false, rule: 'not an address' };
    }
  }

  private judgeIpv6(address: string): AddressVerdict {
    for (const embedded of embeddedIpv4s(address)) {
      const verdict = this.judge(embedded);
      if (!verdict.allowed) return verdict;
    }
    const isPublic = globalIpv6.has(address, 6) && !specialGlobalIpv6.has(address, 6);
    return isPublic ? ALLOWED : this.judgeSpecial(address, 6);
  }

  private judgeSpecial(address: string, version: IpVersion): AddressVerdict {
    if (metadata.has(address, version)) {
      const isListed = this.allowedSingles.has(address, version);
      return isListed ? ALLOWED : { allowed: false, rule: CLOUD_METADATA_RULE };
    }
    if (this.allowed.has(address, version)) return ALLOWED;
    const network = named.find(({ networks }) => networks.has(address, version));
    return { allowed: false, rule: network?.rule ?? UNNAMED_IPV6_RULE };
  }
}

function withSet({ cidr, rule }: SpecialNetwork): { readonly networks: NetworkSet; readonly rule: string } {
  return { networks: new NetworkSet([cidr]), rule };
}
