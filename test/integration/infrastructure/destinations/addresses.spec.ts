import { randomInt } from 'node:crypto';
import { AddressPolicy } from '../../../../src/infrastructure/destinations/address';
import { SeededRandom } from '../../../support/seeded-random';

// A second implementation, written from the RFCs and the contract and sharing no line and no table with the first one:
// bits as bigints instead of ipaddr.js. To repeat a failed run set SEED to the seed that it printed.

const ADDRESSES = 200_000;
const seed = Number(process.env.SEED ?? randomInt(2 ** 31));

/** A network as its value, shifted right until only the prefix is left. */
interface Net {
  bits: 32 | 128;
  prefix: number;
  high: bigint;
}

const v4 = (text: string) => net(32, text);
const v6 = (text: string) => net(128, text);

const FORBIDDEN_V4 = (
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 ' +
  '203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32'
)
  .split(' ')
  .map(v4);
const FORBIDDEN_IN_GLOBAL = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'].map(v6);
const GLOBAL = v6('2000::/3');
const OWN_ENTRY = ['169.254.169.254/32', '168.63.129.16/32', '100.100.100.200/32'].map(v4);
const OWN_ENTRY_V6 = v6('fd00:ec2::254/128');

/** Networks whose last 32 bits are an IPv4 address. */
const CARRIERS = ['::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'].map(v6);
/** Has the verdict of its IPv4 address: the other end of DNS64. */
const NAT64 = v6('64:ff9b::/96');
/** 6to4 and Teredo. */
const NEVER = ['2002::/16', '2001::/32'].map(v6);

const SETTINGS = [
  [],
  ['10.0.0.0/8', 'fd00::/16'],
  ['127.0.0.0/8', '::1/128', '2002::/16', '64:ff9b::/96', '169.254.169.254/32'],
  ['::ffff:0:0/96', '2001::/32', '100.64.0.0/10', 'fd00:ec2::254/128', '64:ff9b:1::/48'],
];

describe('200,000 random addresses', () => {
  it.each(SETTINGS.map((allowed) => [allowed.join(' ') || 'nothing', allowed] as const))(
    'get the same verdict from a second implementation, with %s allowed',
    (_title, allowed) => {
      const policy = new AddressPolicy(allowed);
      const listed = allowed.map((cidr) => net(cidr.includes(':') ? 128 : 32, cidr));
      const chance = new SeededRandom(seed + allowed.length);
      const random: Random = (below) => chance.between(0, below - 1);
      const places = placesOfInterest(listed);
      const disagreements: string[] = [];
      let refused = 0;
      for (let i = 0; i < ADDRESSES / SETTINGS.length; i += 1) {
        const bits = i % 3 === 0 ? 32 : 128;
        const value = candidate(bits, random, places);
        const expected = mayReach(bits, value, listed);
        const text = spell(bits, value, random);
        if (!expected) refused += 1;
        if (policy.classify(text).allowed !== expected) disagreements.push(`${text} should be ${String(expected)}`);
      }
      expect({ seed, disagreements: disagreements.slice(0, 10) }).toEqual({ seed, disagreements: [] });
      // Neither implementation allows everything or denies everything.
      expect(refused).toBeGreaterThan(5_000);
      expect(refused).toBeLessThan(45_000);
    },
  );
});

function mayReach(bits: 32 | 128, value: bigint, listed: readonly Net[]): boolean {
  if (bits === 32) {
    const isForbidden = FORBIDDEN_V4.some((range) => holds(range, 32, value));
    return !isForbidden || isListed(32, value, listed, OWN_ENTRY);
  }
  if (NEVER.some((range) => holds(range, 128, value))) return false;
  if (embedsIpv4(value) && !mayReach(32, BigInt.asUintN(32, value), listed)) return false;
  if (holds(NAT64, 128, value)) return true;
  const isPublic = holds(GLOBAL, 128, value) && !FORBIDDEN_IN_GLOBAL.some((range) => holds(range, 128, value));
  return isPublic || isListed(128, value, listed, [OWN_ENTRY_V6]);
}

function isListed(bits: 32 | 128, value: bigint, listed: readonly Net[], own: readonly Net[]): boolean {
  const needsOwn = own.some((single) => holds(single, bits, value));
  return listed.some((range) => holds(range, bits, value) && (!needsOwn || range.prefix === bits));
}

function embedsIpv4(value: bigint): boolean {
  if (value <= 1n) return false;
  const interfaceId = BigInt.asUintN(32, value >> 32n);
  const isIsatap = interfaceId === 0x5efen || interfaceId === 0x0200_5efen;
  return isIsatap || CARRIERS.some((range) => holds(range, 128, value));
}

function holds(range: Net, bits: number, value: bigint): boolean {
  return range.bits === bits && value >> BigInt(bits - range.prefix) === range.high;
}

type Random = (below: number) => number;

type Places = Record<32 | 128, readonly Net[]>;

function placesOfInterest(listed: readonly Net[]): Places {
  const all = [...FORBIDDEN_V4, ...FORBIDDEN_IN_GLOBAL, GLOBAL, ...OWN_ENTRY, OWN_ENTRY_V6, ...listed];
  return { 32: all.filter(({ bits }) => bits === 32), 128: all.filter(({ bits }) => bits === 128) };
}

/** Any address, one near an edge or inside a range of interest, or a forbidden one embedded in another. */
function candidate(bits: 32 | 128, random: Random, places: Places): bigint {
  const anything = bigRandom(bits, random);
  const inside = (range: Net) =>
    (range.high << BigInt(bits - range.prefix)) | BigInt.asUintN(bits - range.prefix, anything);
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const fitting = places[bits];
  switch (random(bits === 32 ? 3 : 6)) {
    case 0:
      return anything;
    case 1:
      return inside(pick(fitting));
    case 2: {
      const { high, prefix } = pick(fitting);
      const edge = (high + BigInt(random(2))) << BigInt(bits - prefix);
      return BigInt.asUintN(bits, edge + BigInt(random(5) - 2));
    }
    case 3: {
      const high = inside(pick(random(4) ? CARRIERS : NEVER)) >> 32n;
      return (high << 32n) | candidate(32, random, places);
    }
    case 4: {
      const id = pick([0x5efen, 0x0200_5efen, 0x0100_5efen]);
      const network = inside(random(2) ? GLOBAL : pick(fitting)) >> 64n;
      return (network << 64n) | (id << 32n) | candidate(32, random, places);
    }
    default:
      return BigInt.asUintN(128, inside(GLOBAL));
  }
}

function bigRandom(bits: number, random: Random): bigint {
  let value = 0n;
  for (let at = 0; at < bits; at += 16) value = (value << 16n) | BigInt(random(65_536));
  return value;
}

function net(bits: 32 | 128, cidr: string): Net {
  const [base = '', prefix = ''] = cidr.split('/');
  const value = bits === 32 ? dotted(base) : colons(base);
  return { bits, prefix: Number(prefix), high: value >> BigInt(bits - Number(prefix)) };
}

function dotted(text: string): bigint {
  return text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

function colons(text: string): bigint {
  const [head = '', tail = ''] = text.split('::').map((side) => side.split(':').filter(Boolean).join(':'));
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const groups = [...left, ...new Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

/** Returns the address in one of its spellings: full, upper case, compressed, or with a dotted end. */
function spell(bits: 32 | 128, value: bigint, random: Random): string {
  const parts = (size: bigint, count: number, radix: number) =>
    Array.from({ length: count }, (_, i) =>
      ((value >> (size * BigInt(count - 1 - i))) & ((1n << size) - 1n)).toString(radix),
    );
  if (bits === 32) return parts(8n, 4, 10).join('.');
  const groups = parts(16n, 8, 16);
  const style = random(5);
  if (style === 1) return groups.map((group) => group.padStart(4, '0').toUpperCase()).join(':');
  if (style === 2) return [...groups.slice(0, 6), spell(32, BigInt.asUintN(32, value), random)].join(':');
  const compress = (text: string) => text.replace(/(^|:)0(:0)+(:|$)/, '::');
  if (style === 3) return compress(groups.join(':'));
  if (style === 4) return compress([...groups.slice(0, 6), spell(32, BigInt.asUintN(32, value), random)].join(':'));
  return groups.join(':');
}
