import { isIP } from 'node:net';
import { IPv4, IPv6, parse } from 'ipaddr.js';
import { parseNetwork } from './network';

/** `rule` names the kind of network in messages ("loopback"). It never contains the address. */
export type AddressVerdict = { readonly allowed: true } | { readonly allowed: false; readonly rule: string };

type Ip = IPv4 | IPv6;

const ALLOWED: AddressVerdict = { allowed: true };

/** Addresses that serve a machine's credentials. A wider network in ALLOWED_NETWORKS never allows them. */
const CLOUD_METADATA = new Set(['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254']);

/** The addresses of `localhost` names, which are not looked up in DNS (RFC 6761, section 6.3). */
export const LOCALHOST_ADDRESSES: readonly string[] = ['127.0.0.1', '::1'];

/** The only IPv6 space that is assigned for public use (RFC 4291, section 2.4). */
const GLOBAL_IPV6 = IPv6.parseCIDR('2000::/3');

/** Networks whose last 32 bits are an IPv4 address: compatible, mapped, translated (RFC 2765) and NAT64. */
const EMBEDDING_IPV6 = ['::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'].map((cidr) =>
  IPv6.parseCIDR(cidr),
);

/**
 * The well-known prefix of NAT64: on hosts with only IPv6, DNS64 answers with it for every IPv4 receiver (RFC 6052, section 2.1).
 */
const NAT64 = IPv6.parseCIDR('64:ff9b::/96');

/** Ranges of tunnels to IPv4 addresses, which ALLOWED_NETWORKS never allows. */
export const TUNNELS: readonly string[] = ['6to4', 'teredo'];

/** Names of the special ranges of ipaddr.js for messages. The others are called reserved. */
const RULES: Readonly<Record<string, string>> = {
  unspecified: 'unspecified network',
  loopback: 'loopback',
  private: 'private network',
  uniqueLocal: 'private network',
  linkLocal: 'link-local',
  carrierGradeNat: 'carrier-grade NAT',
  multicast: 'multicast',
  ipv4Mapped: 'IPv4-mapped network',
  rfc6052: 'NAT64',
};

/**
 * Decides which IP addresses deliveries may reach: public ones, and special-purpose ones (IANA registries, RFC 6890) in
 * an allowed network. A cloud metadata address requires its own entry (/32 or /128). An address of NAT64's well-known prefix is
 * allowed as the IPv4 address in it is; another IPv6 address that contains one, only if that IPv4 address is allowed too; 6to4
 * and Teredo addresses never are.
 */
export class AddressPolicy {
  private readonly networks: readonly { cidr: string; base: Ip; prefix: number }[];

  /** @param allowedNetworks CIDRs that `parseNetwork` accepts; any other text throws a TypeError */
  constructor(allowedNetworks: readonly string[]) {
    this.networks = allowedNetworks.map((cidr) => {
      const network = parseNetwork(cidr);
      if (network === null) throw new TypeError(`not a network: ${cidr}`);
      return { cidr, base: parseIp(network.address), prefix: network.prefix };
    });
  }

  /** Checks an address in any text form. Denies a text that is not an address, or has a zone id. Never throws. */
  classify(address: string): AddressVerdict {
    if (isIP(address) === 0) return { allowed: false, rule: 'not an address' };
    return address.includes('%') ? { allowed: false, rule: 'address with a zone' } : this.classifyIp(parseIp(address));
  }

  private classifyIp(ip: Ip): AddressVerdict {
    const range = ip.range();
    if (TUNNELS.includes(range)) return { allowed: false, rule: range };
    const embedded = embeddedIpv4(ip);
    const verdict = embedded ? this.classifyIp(embedded) : ALLOWED;
    if (!verdict.allowed || (ip instanceof IPv6 && ip.match(NAT64))) return verdict;
    const isMetadata = CLOUD_METADATA.has(ip.toString());
    const isPublic = range === 'unicast' && !isMetadata && (ip instanceof IPv4 || ip.match(GLOBAL_IPV6));
    if (isPublic || this.isListed(ip, isMetadata)) return ALLOWED;
    return { allowed: false, rule: isMetadata ? 'cloud metadata service' : (RULES[range] ?? 'reserved network') };
  }

  private isListed(ip: Ip, byItself: boolean): boolean {
    const single = ip instanceof IPv4 ? '/32' : '/128';
    return this.networks.some(({ cidr, base, prefix }) => {
      return base.kind() === ip.kind() && ip.match(base, prefix) && (!byItself || cidr.endsWith(single));
    });
  }
}

/**
 * Returns true when an address and port lead to the proxy itself, which has the addresses `ofProxy`. All programs of a machine
 * share LOCALHOST_ADDRESSES, so there only its port is its own. Of a proxy on another machine, all loopback and unspecified
 * addresses are: through the proxy they lead there.
 */
export function leadsToProxy(to: { address: string; port: number }, ofProxy: readonly string[], port: number): boolean {
  const ip = innermost(parseIp(to.address));
  const own = ofProxy.map((address) => innermost(parseIp(address)));
  const isOwn = own.some((one) => one.toString() === ip.toString()) && !LOCALHOST_ADDRESSES.includes(ip.toString());
  return isOwn || (isLocal(ip) && (to.port === port || !own.some(isLocal)));
}

const isLocal = (ip: Ip): boolean => ['loopback', 'unspecified'].includes(ip.range());

function innermost(ip: Ip): Ip {
  const embedded = embeddedIpv4(ip);
  return embedded ? innermost(embedded) : ip;
}

/** Parses an address without a zone that `isIP` accepts. ipaddr.js alone would read `::1.2.3.4` as `::ffff:1.2.3.4`. */
export function parseIp(address: string): Ip {
  return parse(address.replace(/^::(?=\d+\.)/, '::0:'));
}

/** Returns the IPv4 address in the last 32 bits of an address of EMBEDDING_IPV6 or ISATAP (RFC 5214, section 6.1). */
function embeddedIpv4(ip: Ip): IPv4 | undefined {
  if (ip instanceof IPv4 || ['unspecified', 'loopback'].includes(ip.range())) return undefined;
  const [isatap, marker] = ip.parts.slice(4);
  const isIsatap = (isatap === 0 || isatap === 0x200) && marker === 0x5efe;
  const embeds = isIsatap || EMBEDDING_IPV6.some((network) => ip.match(network));
  return embeds ? new IPv4(ip.toByteArray().slice(12)) : undefined;
}
