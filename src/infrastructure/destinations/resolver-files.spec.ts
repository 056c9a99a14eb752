import { candidatesFor, parseHosts, parseResolverConfig } from './resolver-files';

describe('resolv.conf', () => {
  it.each([
    ['', [], []],
    ['nameserver 192.0.2.1\nnameserver 2001:db8::1\n', ['192.0.2.1', '2001:db8::1'], []],
    ['# nameserver 192.0.2.1\n;nameserver 192.0.2.2\n\tnameserver\t192.0.2.3 # mine\r\n', ['192.0.2.3'], []],
    ['nameserver\nnameserver example.com\nnameserver fe80::1%eth0\noptions ndots:5\n', [], []],
    ['search shop.svc.cluster.local. cluster.local\n', [], ['shop.svc.cluster.local', 'cluster.local']],
    ['search one.test\ndomain two.test three.test\n', [], ['two.test']],
    ['domain two.test\nsearch\n', [], []],
    ['search .\n', [], []],
  ])('%j names these servers and domains', (text, servers, search) => {
    expect(parseResolverConfig(text)).toEqual({ servers, search });
  });
});

describe('A hosts file', () => {
  it('gives a name all of its addresses, IPv4 first', () => {
    const hosts = parseHosts(
      '# 192.0.2.9 commented\n::1 Both both.test\n192.0.2.1\tboth # a comment\nnot-an-address wrong\n192.0.2.2\n\n10.0.0.1 dot.test.\r\n',
    );
    expect(Object.fromEntries(hosts)).toEqual({
      both: ['192.0.2.1', '::1'],
      'both.test': ['::1'],
      'dot.test': ['10.0.0.1'],
    });
  });
});

it.each([
  ['receiver', ['receiver.a.test', 'receiver.b.test', 'receiver']],
  ['receiver.', ['receiver.']],
  ['receiver.shop', ['receiver.shop']],
])('The name %s is looked for as %j', (name, candidates) => {
  expect(candidatesFor(name, ['a.test', 'b.test'])).toEqual(candidates);
});
