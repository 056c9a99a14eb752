import { parseNetwork } from './network';

describe('parseNetwork', () => {
  it.each([
    ['10.0.0.0/8', { address: '10.0.0.0', prefix: 8, family: 'ipv4' }],
    ['192.0.2.1/32', { address: '192.0.2.1', prefix: 32, family: 'ipv4' }],
    ['fc00::/16', { address: 'fc00::', prefix: 16, family: 'ipv6' }],
    ['fd00:ec2::254/128', { address: 'fd00:ec2::254', prefix: 128, family: 'ipv6' }],
  ])('parses %s', (text, network) => {
    expect(parseNetwork(text)).toEqual(network);
  });

  it.each([
    ['wider than an IPv4 /8', '10.0.0.0/7'],
    ['wider than an IPv6 /16', 'fc00::/15'],
    ['everything', '0.0.0.0/0'],
    ['narrower than an IPv4 address', '10.0.0.0/33'],
    ['narrower than an IPv6 address', '::1/129'],
    ['an address without a prefix', '10.0.0.1'],
    ['an empty prefix', '10.0.0.0/'],
    ['a negative prefix', '10.0.0.0/-8'],
    ['a fraction', '10.0.0.0/8.5'],
    ['two prefixes', '10.0.0.0/8/8'],
    ['a mask', '10.0.0.0/255.0.0.0'],
    ['a zone', 'fe80::1%eth0/64'],
    ['a short address', '10.0/16'],
    ['a leading zero', '010.0.0.0/8'],
    ['a name', 'localhost/8'],
    ['a space', ' 10.0.0.0/8'],
    ['nothing', ''],
  ])('rejects %s', (_, text) => {
    expect(parseNetwork(text)).toBeNull();
  });
});
