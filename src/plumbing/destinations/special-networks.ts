/** A network that is not an ordinary destination, and its short name for sentences. */
export interface SpecialNetwork {
  readonly cidr: string;
  readonly rule: string;
}

export const CLOUD_METADATA_RULE = 'cloud metadata service';

/** Addresses that give out a machine's credentials. A wider network in ALLOWED_NETWORKS never opens them. */
export const CLOUD_METADATA: readonly string[] = [
  '169.254.169.254/32',
  '168.63.129.16/32',
  '100.100.100.200/32',
  'fd00:ec2::254/128',
];

/** The IANA IPv4 Special-Purpose Address Registry (RFC 6890), multicast, and one cloud's address outside of both. */
export const SPECIAL_IPV4: readonly SpecialNetwork[] = [
  { cidr: '0.0.0.0/8', rule: 'unspecified network' },
  { cidr: '10.0.0.0/8', rule: 'private network' },
  { cidr: '100.64.0.0/10', rule: 'carrier-grade NAT' },
  { cidr: '127.0.0.0/8', rule: 'loopback' },
  { cidr: '168.63.129.16/32', rule: CLOUD_METADATA_RULE },
  { cidr: '169.254.0.0/16', rule: 'link-local' },
  { cidr: '172.16.0.0/12', rule: 'private network' },
  { cidr: '192.0.0.0/24', rule: 'protocol assignments' },
  { cidr: '192.0.2.0/24', rule: 'documentation network' },
  { cidr: '192.31.196.0/24', rule: 'AS112 service' },
  { cidr: '192.52.193.0/24', rule: 'multicast tunnelling' },
  { cidr: '192.88.99.0/24', rule: '6to4 relay' },
  { cidr: '192.168.0.0/16', rule: 'private network' },
  { cidr: '192.175.48.0/24', rule: 'AS112 service' },
  { cidr: '198.18.0.0/15', rule: 'benchmarking network' },
  { cidr: '198.51.100.0/24', rule: 'documentation network' },
  { cidr: '203.0.113.0/24', rule: 'documentation network' },
  { cidr: '224.0.0.0/4', rule: 'multicast' },
  { cidr: '240.0.0.0/4', rule: 'reserved network' },
];

/** The only IPv6 space that is assigned to the public (RFC 4291, section 2.4). */
export const GLOBAL_IPV6 = '2000::/3';

/** The parts of `2000::/3` that are not for the public (IANA IPv6 Special-Purpose Address Registry). */
export const SPECIAL_GLOBAL_IPV6: readonly SpecialNetwork[] = [
  { cidr: '2001::/23', rule: 'protocol assignments' },
  { cidr: '2001:db8::/32', rule: 'documentation network' },
  { cidr: '2002::/16', rule: '6to4' },
  { cidr: '2620:4f:8000::/48', rule: 'AS112 service' },
  { cidr: '3fff::/20', rule: 'documentation network' },
];

/** Names of networks outside `2000::/3`. Networks without a name here are denied too. */
export const NAMED_IPV6: readonly SpecialNetwork[] = [
  { cidr: '::/128', rule: 'unspecified network' },
  { cidr: '::1/128', rule: 'loopback' },
  { cidr: '::ffff:0:0/96', rule: 'IPv4-mapped network' },
  { cidr: '64:ff9b::/96', rule: 'NAT64' },
  { cidr: '64:ff9b:1::/48', rule: 'NAT64' },
  { cidr: 'fc00::/7', rule: 'private network' },
  { cidr: 'fe80::/10', rule: 'link-local' },
  { cidr: 'ff00::/8', rule: 'multicast' },
];

export const UNNAMED_IPV6_RULE = 'reserved network';

/** An IPv6 network whose addresses contain an IPv4 address, and the group of 16 bits (0..7) at which that begins. */
export interface EmbeddingNetwork {
  readonly cidr: string;
  readonly group: number;
  /** Teredo stores the complement of every bit. */
  readonly inverted?: boolean;
}

/** Groups 4 and 5 of an ISATAP address in any network (RFC 5214, section 6.1). Groups 6 and 7 are the IPv4 address. */
export const ISATAP_GROUPS: readonly (readonly [number, number])[] = [
  [0x0000, 0x5efe],
  [0x0200, 0x5efe],
];

export const EMBEDDING_IPV6: readonly EmbeddingNetwork[] = [
  { cidr: '::/96', group: 6 },
  { cidr: '::ffff:0:0/96', group: 6 },
  { cidr: '::ffff:0:0:0/96', group: 6 },
  { cidr: '64:ff9b::/96', group: 6 },
  { cidr: '64:ff9b:1::/48', group: 6 },
  { cidr: '2001::/32', group: 6, inverted: true },
  { cidr: '2002::/16', group: 1 },
];
