import { AddressPolicy, leadsToProxy } from './address';

/** First and last address, and the address outside each end where that is public. */
const RANGES: readonly [network: string, first: string, last: string, outside: readonly string[]][] = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', ['1.0.0.0']],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', ['9.255.255.255', '11.0.0.0']],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', ['100.63.255.255', '100.128.0.0']],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', ['126.255.255.255', '128.0.0.0']],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', ['169.253.255.255', '169.255.0.0']],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', ['172.15.255.255', '172.32.0.0']],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', ['191.255.255.255', '192.0.1.0']],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', ['192.0.1.255', '192.0.3.0']],
  ['192.31.196.0/24', '192.31.196.0', '192.31.196.255', ['192.31.195.255', '192.31.197.0']],
  ['192.52.193.0/24', '192.52.193.0', '192.52.193.255', ['192.52.192.255', '192.52.194.0']],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', ['192.88.98.255', '192.88.100.0']],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', ['192.167.255.255', '192.169.0.0']],
  ['192.175.48.0/24', '192.175.48.0', '192.175.48.255', ['192.175.47.255', '192.175.49.0']],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', ['198.17.255.255', '198.20.0.0']],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', ['198.51.99.255', '198.51.101.0']],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', ['203.0.112.255', '203.0.114.0']],
  ['224.0.0.0/4', '224.0.0.0', '239.255.255.255', ['223.255.255.255']],
  ['240.0.0.0/4', '240.0.0.0', '255.255.255.255', []],
  ['168.63.129.16/32', '168.63.129.16', '168.63.129.16', ['168.63.129.15', '168.63.129.17']],
  ['below 2000::/3', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['2000::']],
  ['above 2000::/3', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff']],
  ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', ['2000:ffff:ffff::ffff', '2001:200::']],
  ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:db7:ffff::ffff', '2001:db9::']],
  ['2002::/16', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:ffff:ffff::ffff', '2003::']],
  [
    '2620:4f:8000::/48',
    '2620:4f:8000::',
    '2620:4f:8000:ffff:ffff:ffff:ffff:ffff',
    ['2620:4f:7fff:ffff:ffff:ffff:ffff:ffff', '2620:4f:8001::'],
  ],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', ['3ffe:ffff:ffff::ffff', '3fff:1000::']],
];

const strict = new AddressPolicy([]);

describe('AddressPolicy without allowed networks', () => {
  it.each(RANGES)(
    'denies %s from its first to its last address, and nothing else',
    (_network, first, last, outside) => {
      expect(strict.classify(first).allowed).toBe(false);
      expect(strict.classify(last).allowed).toBe(false);
      for (const address of outside) expect([address, strict.classify(address).allowed]).toEqual([address, true]);
    },
  );

  it.each([
    ['127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['::', 'unspecified network'],
    ['10.1.2.3', 'private network'],
    ['fd12::1', 'private network'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1', 'link-local'],
    ['ff02::1', 'multicast'],
    ['169.254.169.254', 'cloud metadata service'],
    ['168.63.129.16', 'cloud metadata service'],
    ['100.100.100.200', 'cloud metadata service'],
    ['fd00:ec2::254', 'cloud metadata service'],
    ['FD00:0EC2:0::0254', 'cloud metadata service'],
    ['::ffff:169.254.169.254', 'cloud metadata service'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['::127.0.0.1', 'loopback'],
    ['2002:7f00:1::', '6to4'],
    ['2002:808:808::1', '6to4'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'teredo'],
    ['64:ff9b::a9fe:a9fe', 'cloud metadata service'],
    ['64:ff9b::6464:64c8', 'cloud metadata service'],
    ['64:ff9b::0.0.0.0', 'unspecified network'],
    ['64:ff9b::192.0.2.1', 'reserved network'],
    ['64:ff9b:1::808:808', 'NAT64'],
    ['64:ff9b:1:808:8:800::', 'unspecified network'],
    ['64:ff9b::1:808:808', 'reserved network'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['2606:4700::5efe:127.0.0.1', 'loopback'],
    ['2606:4700::200:5efe:169.254.169.254', 'cloud metadata service'],
    ['::ffff:8.8.8.8', 'IPv4-mapped network'],
    ['::8.8.8.8', 'reserved network'],
    ['192.0.2.1', 'reserved network'],
    ['5f00::1', 'reserved network'],
  ])('names the rule for %s: %s', (address, rule) => {
    expect(strict.classify(address)).toEqual({ allowed: false, rule });
  });

  it.each(['', 'localhost', '1.2.3', '01.2.3.4', '8.8.8.8 ', '8.8.8.8/32', '[2606:4700::1]', '0x8080808', '8.8.8.8\0'])(
    'denies text that is not an address: %j',
    (text) => expect(strict.classify(text)).toEqual({ allowed: false, rule: 'not an address' }),
  );

  it.each(['fe80::1%eth0', '2606:4700::1%1'])('denies an address with a zone: %s', (address) => {
    expect(strict.classify(address).allowed).toBe(false);
  });
});

const isAllowed = (networks: readonly string[], address: string) =>
  new AddressPolicy(networks).classify(address).allowed;

describe('AddressPolicy with the prefix of DNS64', () => {
  it.each(RANGES.filter(([network]) => network.includes('.')))(
    'denies %s within it, and nothing else',
    (_network, first, last, outside) => {
      expect([first, last].filter((address) => isAllowed([], `64:ff9b::${address}`))).toEqual([]);
      expect(outside.filter((address) => !isAllowed([], `64:ff9b::${address}`))).toEqual([]);
    },
  );

  it.each([
    ['10.0.0.0/8', '64:ff9b::10.0.0.1', true],
    ['10.0.0.0/8', '64:ff9b::11.0.0.1', true],
    ['10.0.0.0/8', '64:ff9b::192.168.0.1', false],
    ['169.254.0.0/16', '64:ff9b::169.254.169.254', false],
    ['64:ff9b::/96', '64:ff9b::10.0.0.1', false],
    ['64:ff9b::/96', '64:ff9b::127.0.0.1', false],
  ])('with %s, allows %s: %p', (network, address, expected) => {
    expect(isAllowed([network], address)).toBe(expected);
  });
});

describe('AddressPolicy with allowed networks', () => {
  it('allows listed networks and nothing else', () => {
    expect(isAllowed(['10.1.0.0/16'], '10.1.255.255')).toBe(true);
    expect(isAllowed(['10.1.0.0/16'], '10.2.0.0')).toBe(false);
    expect(isAllowed(['fd00::/16'], 'fd00::1')).toBe(true);
    expect(isAllowed(['127.0.0.0/8', '::1/128'], '::1')).toBe(true);
    expect(isAllowed(['::1/128'], '::')).toBe(false);
  });

  it.each([
    ['169.254.169.254', '169.254.0.0/16', '169.254.169.254/32'],
    ['168.63.129.16', '168.0.0.0/8', '168.63.129.16/32'],
    ['100.100.100.200', '100.64.0.0/10', '100.100.100.200/32'],
    ['fd00:ec2::254', 'fd00::/16', 'fd00:ec2:0:0::254/128'],
  ])('allows %s only through an entry of its own', (address, wider, own) => {
    expect(isAllowed([wider], address)).toBe(false);
    expect(isAllowed([own], address)).toBe(true);
  });

  it('requires /32 or /128 exactly for a single address', () => {
    expect(isAllowed(['169.254.169.254/032'], '169.254.169.254')).toBe(false);
    expect(isAllowed(['fd00:ec2::254/32'], 'fd00:ec2::254')).toBe(false);
  });

  it.each([
    ['::ffff:0:0/96', '::ffff:10.0.0.1'],
    ['64:ff9b:1::/48', '64:ff9b:1::10.0.0.1'],
    ['::ffff:0:0:0/96', '::ffff:0:10.0.0.1'],
    ['::/96', '::10.0.0.1'],
    ['fd00::/16', 'fd00::5efe:10.0.0.1'],
  ])('allows %s only when its embedded address is allowed too', (network, address) => {
    expect(isAllowed([network], address)).toBe(false);
    expect(isAllowed(['10.0.0.0/8'], address)).toBe(false);
    expect(isAllowed([network, '10.0.0.0/8'], address)).toBe(true);
  });

  it.each([
    ['2002::/16', '2002:808:808::1', '8.0.0.0/8'],
    ['2002::/16', '2002:a00:1::1', '10.0.0.0/8'],
    ['2002::/16', '2002:808:808::5efe:10.0.0.1', '10.0.0.0/8'],
    ['2001::/32', '2001:0:808:808::f7f7:f7f7', '8.0.0.0/8'],
    ['2001::/32', '2001:0:808:808::f5ff:fffe', '10.0.0.0/8'],
  ])('never allows 6to4 and Teredo: with %s, %s', (network, address, embedded) => {
    expect(isAllowed([network, embedded], address)).toBe(false);
    expect(isAllowed([`${address}/128`, network, embedded], address)).toBe(false);
  });

  it.each([
    '::ffff:192.0.2.33',
    '::ffff:c000:221',
    '0:0:0:0:0:FFFF:192.0.2.33',
    '::192.0.2.33',
    '0::192.0.2.33',
    '::c000:221',
    '::ffff:0:192.0.2.33',
    '64:ff9b::192.0.2.33',
    '64:ff9b:1:fffe::192.0.2.33',
    '2606:4700::0:5efe:192.0.2.33',
    '2606:4700::200:5efe:192.0.2.33',
    'fe80::5efe:c000:221',
  ])('finds 192.0.2.33 in %s', (address) => {
    expect(isAllowed([`${address}/128`], address)).toBe(false);
    expect(isAllowed([`${address}/128`, '192.0.2.32/32', '192.0.2.34/32'], address)).toBe(false);
    expect(isAllowed([`${address}/128`, '192.0.2.33/32'], address)).toBe(true);
  });

  it.each(['::', '::1', '2606:4700::192.0.2.33', 'fe80::1', '2001:db8::1', '2606:4700::100:5efe:192.0.2.33'])(
    'finds no IPv4 address in %s',
    (address) => expect(isAllowed([`${address}/128`], address)).toBe(true),
  );

  it('finds 0.0.0.2 in ::2', () => {
    expect(isAllowed(['::/96'], '::2')).toBe(false);
    expect(isAllowed(['::/96', '0.0.0.2/32'], '::2')).toBe(true);
  });

  it('distinguishes compatible from mapped addresses', () => {
    expect(isAllowed(['::ffff:0:0/96'], '::8.8.8.8')).toBe(false);
    expect(isAllowed(['::8.8.8.0/120'], '::8.8.8.8')).toBe(true);
    expect(isAllowed(['::8.8.8.0/120'], '::ffff:8.8.8.8')).toBe(false);
  });

  it('allows an ISATAP address of a public network only when its embedded address is allowed', () => {
    expect(isAllowed([], '2606:4700::5efe:8.8.8.8')).toBe(true);
    expect(isAllowed([], '2606:4700::5efe:10.0.0.1')).toBe(false);
    expect(isAllowed(['10.0.0.0/8'], '2606:4700::5efe:10.0.0.1')).toBe(true);
    expect(isAllowed(['10.0.0.0/8'], '2606:4700::200:5efe:10.0.0.1')).toBe(true);
  });

  it('allows an embedded metadata address only through an entry of its own', () => {
    const wider = ['::ffff:0:0/96', '169.254.0.0/16'];
    expect(isAllowed(wider, '::ffff:169.254.169.254')).toBe(false);
    expect(isAllowed([...wider, '169.254.169.254/32'], '::ffff:169.254.169.254')).toBe(true);
  });

  it('does not match rules of one family with addresses of the other', () => {
    expect(isAllowed(['::ffff:0:0/96'], '10.0.0.1')).toBe(false);
    expect(isAllowed(['::ffff:0:0/96'], '::ffff:10.0.0.1')).toBe(false);
    expect(isAllowed(['::ffff:0:0/96'], '::ffff:8.8.8.8')).toBe(true);
  });

  it.each(['10.0.0.0', 'localhost/8', '10.0.0.0/33', '10.0.0.0/x', '10/8', '010.0.0.0/8', '0xa.0.0.0/8', ''])(
    'rejects %j as a network',
    (text) => {
      expect(() => new AddressPolicy([text])).toThrow();
    },
  );
});

describe('leadsToProxy', () => {
  it.each<[string, string[], boolean]>([
    ['10.0.0.5', ['10.0.0.5'], true],
    ['10.0.0.5', ['10.0.0.4', '10.0.0.5'], true],
    ['::ffff:10.0.0.5', ['10.0.0.5'], true],
    ['64:ff9b::a00:5', ['10.0.0.5'], true],
    ['2001:db8::5', ['2001:0DB8:0:0::5'], true],
    ['10.0.0.6', ['10.0.0.5'], false],
    ['2001:db8::6', ['2001:db8::5'], false],
    ['127.0.0.1', ['10.0.0.5'], true],
    ['::1', ['10.0.0.5'], true],
    ['::ffff:127.0.0.1', ['10.0.0.5'], true],
    ['0.0.0.0', ['10.0.0.5'], true],
    ['127.0.0.2', ['127.0.0.2'], true],
    ['127.0.0.1', ['127.0.0.2'], false],
    ['127.0.0.1', ['127.0.0.1'], false],
    ['::1', ['127.0.0.1'], false],
  ])('of %s, of a proxy at %j and another port, is %p', (address, ofProxy, expected) => {
    expect(leadsToProxy({ address, port: 80 }, ofProxy, 3128)).toBe(expected);
  });

  it('covers the port of a proxy on this machine, whatever the loopback address', () => {
    expect(leadsToProxy({ address: '127.0.0.1', port: 3128 }, ['127.0.0.1'], 3128)).toBe(true);
    expect(leadsToProxy({ address: '::ffff:127.0.0.1', port: 3128 }, ['127.0.0.1'], 3128)).toBe(true);
    expect(leadsToProxy({ address: '127.0.0.9', port: 3128 }, ['127.0.0.1'], 3128)).toBe(true);
    expect(leadsToProxy({ address: '10.0.0.6', port: 3128 }, ['127.0.0.1'], 3128)).toBe(false);
  });
});
