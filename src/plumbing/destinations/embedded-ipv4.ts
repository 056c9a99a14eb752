import { NetworkSet } from './network-set';
import { EMBEDDING_IPV6, type EmbeddingNetwork, ISATAP_GROUPS } from './special-networks';

type Place = Pick<EmbeddingNetwork, 'group' | 'inverted'>;

const embeddings = EMBEDDING_IPV6.map((network) => ({ ...network, networks: new NetworkSet([network.cidr]) }));

/**
 * The IPv4 addresses inside a valid IPv6 address without a zone: mapped and compatible (RFC 4291, section 2.5.5),
 * translated (RFC 2765), NAT64 (RFC 6052 and 8215, in the last 32 bits), 6to4 (RFC 3056), Teredo (RFC 4380: the
 * client's), and ISATAP (RFC 5214), which may be present beside another one. `::` and `::1` are not compatible
 * addresses.
 */
export function embeddedIpv4s(address: string): readonly string[] {
  const groups = groupsOf(address);
  if (groups.slice(0, 7).every((group) => group === 0) && (groups[7] ?? 0) <= 1) return [];
  const found = embeddings.filter(({ networks }) => networks.has(address, 6));
  const places = isIsatap(groups) ? [...found, { group: 6 }] : found;
  return places.map(({ group, inverted }: Place) => ipv4At(groups, group, inverted));
}

function isIsatap(groups: readonly number[]): boolean {
  return ISATAP_GROUPS.some(([first, second]) => groups[4] === first && groups[5] === second);
}

function ipv4At(groups: readonly number[], group: number, inverted = false): string {
  const mask = inverted ? 0xffff : 0;
  const high = (groups[group] ?? 0) ^ mask;
  const low = (groups[group + 1] ?? 0) ^ mask;
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
}

/** The eight 16-bit groups of a valid IPv6 address without a zone (RFC 4291, section 2.2, all three text forms). */
export function groupsOf(address: string): number[] {
  const [head = '', tail] = withoutDots(address).split('::');
  const left = parseGroups(head);
  if (tail === undefined) return left;
  const right = parseGroups(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function parseGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

function withoutDots(address: string): string {
  if (!address.includes('.')) return address;
  const start = address.lastIndexOf(':') + 1;
  const [a = 0, b = 0, c = 0, d = 0] = address.slice(start).split('.').map(Number);
  return `${address.slice(0, start)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
