import { AddressPolicy } from './address';
import { isLocalhost, judgeStoredUrl, judgeUrl } from './url';

const strict = new AddressPolicy([]);
const anyScheme = { requireHttps: false };
const judge = (text: unknown, networks: readonly string[] = []) =>
  judgeUrl(text, new AddressPolicy(networks), anyScheme);

const SPECIAL_ADDRESSES = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://0/',
  'http://①②⑦.⓪.⓪.①/',
  'http://169。254。169。254/',
  'http://%31%32%37.0.0.1/',
  'http://127.0.0.1./',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://a.localhost/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[ff02::1]/',
  'http://169.254.169.254/latest/meta-data/',
  'http://168.63.129.16/',
  'http://100.100.100.200/',
];

const MALFORMED = [
  'http://user:pass@example.com/',
  'http://@example.com/',
  'http://evil.com@127.0.0.1/',
  'http://evil.com\\@127.0.0.1/',
  'http:127.0.0.1/',
  'http:///example.com/',
  'http://',
  'http://?a',
  '//example.com/',
  'example.com',
  'ftp://example.com/',
  'javascript:alert(1)',
  'https://example.com:0/',
  'https://example.com:65536/',
  'https://example.com/#',
  'https://example.com/#part',
  ' https://example.com/',
  'https://example.com/\r\n',
  'https://exa\tmple.com/',
  'https://example.com/a b',
  'https://example.com/a\u00a0b',
  'https://example.com/\u0000',
  'https://example.com/\u0085',
  'https://example.com/\ud800',
  'http://[fe80::1%25eth0]/',
  'http://1.2.3.4.5/',
  '',
  null,
  undefined,
  42,
  {},
  ['https://example.com/'],
];

describe('judgeUrl', () => {
  it.each(SPECIAL_ADDRESSES)('refuses the special-purpose address of %s and names the setting', (text) => {
    expect(judge(text)).toEqual({ ok: false, reason: expect.stringContaining('ALLOWED_NETWORKS') });
  });

  it.each(MALFORMED)('refuses %j with one sentence', (text) => {
    expect(judge(text)).toEqual({ ok: false, reason: expect.stringMatching(/^url must .+[^.]$/) });
  });

  it.each([
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://Example.COM:443/A?b=c', 'https://example.com/A?b=c'],
    ['http://example.com:8080', 'http://example.com:8080/'],
    ['https://例え.jp/日本?q=é', 'https://xn--r8jz45g.jp/%E6%97%A5%E6%9C%AC?q=%C3%A9'],
    ['https://example.com./', 'https://example.com./'],
    ['https://8.8.8.8/hook', 'https://8.8.8.8/hook'],
    ['https://[2606:4700:0:0::1111]/', 'https://[2606:4700::1111]/'],
    ['https://example.com/a/../b//c', 'https://example.com/b//c'],
    ['http://localhost.example.com/', 'http://localhost.example.com/'],
    ['https://example.com/p?to=x@y.z', 'https://example.com/p?to=x@y.z'],
  ])('answers %s in canonical form', (text, url) => {
    expect(judge(text)).toEqual({ ok: true, url });
  });

  it('counts 2048 characters before and after encoding', () => {
    const ofLength = (length: number, character = 'a') => `https://example.com/${character.repeat(length - 20)}`;
    expect(judge(ofLength(2048)).ok).toBe(true);
    expect(judge(ofLength(2049))).toEqual({ ok: false, reason: expect.stringContaining('2048') });
    expect(judge(ofLength(700, 'é'))).toEqual({ ok: false, reason: expect.stringContaining('2048') });
  });

  it('allows localhost names when one of the two loopback addresses is allowed', () => {
    expect(judge('http://localhost:3000/', ['127.0.0.0/8']).ok).toBe(true);
    expect(judge('http://api.localhost./', ['::1/128']).ok).toBe(true);
    expect(judge('http://localhost/', ['10.0.0.0/8']).ok).toBe(false);
  });

  it('allows listed networks in any spelling', () => {
    expect(judge('http://127.1:8080/', ['127.0.0.0/8'])).toEqual({ ok: true, url: 'http://127.0.0.1:8080/' });
    expect(judge('http://169.254.169.254/', ['169.254.0.0/16']).ok).toBe(false);
  });

  it('refuses http when https is required, and says by which setting', () => {
    const options = { requireHttps: true };
    const reason = expect.stringContaining('REQUIRE_HTTPS');
    expect(judgeUrl('http://example.com/', strict, options)).toEqual({ ok: false, reason });
    expect(judgeUrl('https://example.com/', strict, options).ok).toBe(true);
  });

  it('changes nothing about a url that it has answered', () => {
    for (const text of ['https://例え.jp/日本', 'http://example.com:80/?', 'https://a..b/']) {
      const first = judge(text);
      expect(first.ok && judge(first.url)).toEqual(first);
    }
  });
});

describe('judgeStoredUrl', () => {
  it('answers the parsed url, or the rule that forbids it now', () => {
    const judgeStored = (text: string, requireHttps = false) => judgeStoredUrl(text, strict, { requireHttps });
    expect(judgeStored('https://example.com/a?b')).toMatchObject({ ok: true, url: { origin: 'https://example.com' } });
    expect(judgeStored('http://10.0.0.1/')).toEqual({ ok: false, rule: 'private network' });
    expect(judgeStored('http://example.com/', true)).toEqual({ ok: false, rule: 'plain http' });
    expect(judgeStored('example.com')).toEqual({ ok: false, rule: 'malformed url' });
  });
});

describe('isLocalhost', () => {
  it.each(['localhost', 'LOCALHOST.', 'a.b.localhost', 'localhost..'])('is true for %s', (name) => {
    expect(isLocalhost(name)).toBe(true);
  });
  it.each(['mylocalhost', 'localhost.com', 'local', ''])('is false for %j', (name) => {
    expect(isLocalhost(name)).toBe(false);
  });
});
