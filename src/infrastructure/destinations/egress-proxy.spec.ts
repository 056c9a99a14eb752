import { isExempt, parseEgressProxy } from './egress-proxy';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('parseEgressProxy', () => {
  it.each<[string, object]>([
    ['http://proxy.example:3128', { isTls: false, hostname: 'proxy.example', port: 3128, authorization: null }],
    ['HTTP://Proxy.Example:80/', { isTls: false, hostname: 'proxy.example', port: 80, authorization: null }],
    ['https://10.0.0.5:443', { isTls: true, hostname: '10.0.0.5', port: 443, authorization: null }],
    ['http://[2001:db8::1]:3128', { isTls: false, hostname: '2001:db8::1', port: 3128, authorization: null }],
    ['http://user:p%40ss%3A%C3%BC%25@p.example:1', { authorization: basic('user:p@ss:ü%') }],
    ['http://user:p@ss@p.example:1', { hostname: 'p.example', authorization: basic('user:p@ss') }],
    ['http://user@p.example:1', { authorization: basic('user:') }],
    ['http://:pass@p.example:1', { authorization: basic(':pass') }],
  ])('reads %s', (text, expected) => {
    expect(parseEgressProxy(text)).toMatchObject(expected);
  });

  it.each([
    '',
    'proxy.example:3128',
    'socks5://proxy.example:1080',
    'http://proxy.example',
    'http://proxy.example:0',
    'http://proxy.example:65536',
    'http://proxy.example:3128/path',
    'http://proxy.example:3128?a',
    'http://proxy.example:3128#a',
    'http://proxy\\.example:3128',
    'http://a\\b:3128',
    'http://proxy.exam ple:3128',
    'http://proxy.example:31\n28',
    'http://a:%zz@proxy.example:3128',
    'http://a:%ff@proxy.example:3128',
    'http://a%3Ab:c@proxy.example:3128',
    'http://:3128',
    'http://a.example:3128,http://b.example:3128',
  ])('refuses %j', (text) => {
    expect(parseEgressProxy(text)).toBeNull();
  });
});

describe('isExempt', () => {
  it.each<[string, string, boolean]>([
    ['https://id.example/keys', 'id.example', true],
    ['https://id.example/keys', 'a.example, ID.example ,b.example', true],
    ['https://id.example/keys', 'a.example b.example\tid.example', true],
    ['https://id.corp.example/keys', 'corp.example', true],
    ['https://id.corp.example/keys', '.corp.example', true],
    ['https://id.corp.example/keys', '*.corp.example', true],
    ['https://id.example/keys', '*', true],
    ['https://id.example/keys', 'id.example:443', true],
    ['http://id.example:8080/keys', 'id.example:8080', true],
    ['http://10.0.0.5/keys', '10.0.0.5', true],
    ['http://[::1]:8080/keys', '::1', true],
    ['http://[::1]:8080/keys', '[::1]:8080', true],
    ['https://id.example/keys', 'id.example:8443', false],
    ['https://id.example/keys', 'd.example', false],
    ['https://id.example/keys', 'id.example.org', false],
    ['https://id.example/keys', 'www.id.example', false],
    ['http://110.0.0.5/keys', '10.0.0.5', false],
    ['https://id.example/keys', ' ,', false],
    ['https://id.example/keys', '.', false],
  ])('of %s with %j is %p', (url, noProxy, expected) => {
    expect(isExempt(url, noProxy)).toBe(expected);
  });

  it('is false without NO_PROXY', () => {
    expect(isExempt('https://id.example/keys', null)).toBe(false);
  });
});
