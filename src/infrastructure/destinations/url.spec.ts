import { AddressPolicy } from './address';
import { isLocalhost, validateStoredUrl, validateUrl } from './url';

const strict = new AddressPolicy([]);
const anyScheme = { requireHttps: false };
const validate = (text: unknown, networks: readonly string[] = []) =>
  validateUrl(text, new AddressPolicy(networks), anyScheme);

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

describe('validateUrl', () => {
  it('accepts a name with letters of Latin-1 however often it is called', () => {
    const rejected = Array.from({ length: 20_000 }, () => validate('https://bücher.example/ü')).filter(({ ok }) => !ok);
    expect(rejected).toEqual([]);
  });

  it.each(['http://[2002:7f00:1::]/', 'https://[2002:808:808::1]/', 'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/'])(
    'rejects the tunnel address of %s, and names no setting',
    (text) => {
      const { reason } = validate(text) as { reason: string };
      expect(reason).toMatch(/^url must not point to a special-purpose address \((6to4|teredo)\)$/);
    },
  );

  it.each(SPECIAL_ADDRESSES)('rejects the special-purpose address of %s and names the setting', (text) => {
    expect(validate(text)).toEqual({
      ok: false,
      code: 'destination_blocked',
      reason: expect.stringContaining('ALLOWED_NETWORKS'),
    });
  });

  it.each(MALFORMED)('rejects %j with one sentence', (text) => {
    expect(validate(text)).toEqual({
      ok: false,
      code: 'invalid',
      reason: expect.stringMatching(/^(url must|Enter a full URL) .+[^.]$/),
    });
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
  ])('returns %s in canonical form', (text, url) => {
    expect(validate(text)).toEqual({ ok: true, url });
  });

  it('counts 2048 characters before and after encoding', () => {
    const ofLength = (length: number, character = 'a') => `https://example.com/${character.repeat(length - 20)}`;
    expect(validate(ofLength(2048)).ok).toBe(true);
    expect(validate(ofLength(2049))).toEqual({ ok: false, code: 'invalid', reason: expect.stringContaining('2048') });
    expect(validate(ofLength(700, 'é'))).toEqual({
      ok: false,
      code: 'invalid',
      reason: expect.stringContaining('2048'),
    });
  });

  it('allows localhost names when one of the two loopback addresses is allowed', () => {
    expect(validate('http://localhost:3000/', ['127.0.0.0/8']).ok).toBe(true);
    expect(validate('http://api.localhost./', ['::1/128']).ok).toBe(true);
    expect(validate('http://localhost/', ['10.0.0.0/8']).ok).toBe(false);
  });

  it('allows listed networks in any spelling', () => {
    expect(validate('http://127.1:8080/', ['127.0.0.0/8'])).toEqual({ ok: true, url: 'http://127.0.0.1:8080/' });
    expect(validate('http://169.254.169.254/', ['169.254.0.0/16']).ok).toBe(false);
  });

  it('rejects http when https is required, and names the setting', () => {
    const options = { requireHttps: true };
    const reason = expect.stringContaining('REQUIRE_HTTPS');
    expect(validateUrl('http://example.com/', strict, options)).toEqual({
      ok: false,
      code: 'destination_blocked',
      reason,
    });
    expect(validateUrl('https://example.com/', strict, options).ok).toBe(true);
  });

  it('leaves a url that it has returned unchanged', () => {
    for (const text of ['https://例え.jp/日本', 'http://example.com:80/?', 'https://a..b/']) {
      const first = validate(text);
      expect(first.ok && validate(first.url)).toEqual(first);
    }
  });
});

describe('validateStoredUrl', () => {
  it('returns the parsed url, or the rule that forbids it now', () => {
    const validateStored = (text: string, requireHttps = false) => validateStoredUrl(text, strict, { requireHttps });
    expect(validateStored('https://example.com/a?b')).toMatchObject({
      ok: true,
      url: { origin: 'https://example.com' },
    });
    expect(validateStored('http://10.0.0.1/')).toEqual({ ok: false, rule: 'private network' });
    expect(validateStored('http://example.com/', true)).toEqual({ ok: false, rule: 'plain http' });
    expect(validateStored('example.com')).toEqual({ ok: false, rule: 'malformed url' });
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
