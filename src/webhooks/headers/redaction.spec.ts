import fc from 'fast-check';
import { redactionOf } from './redaction';

describe('The redaction of a response', () => {
  it.each([
    [['secret-1'], 'a secret-1 b secret-1', 'a ••• b •••'],
    [['Bearer abcdefgh12'], 'token abcdefgh12', 'token •••'],
    [['Bearer abcdefgh12'], 'got Bearer abcdefgh12', 'got •••'],
    [['Basic short'], 'Basic and short stay', 'Basic and short stay'],
    [['with"quote\\x'], '{"a":"with\\"quote\\\\x"}', '{"a":"•••"}'],
    [['k'], 'k', '•••'],
    [['k', '11', 'true'], 'k ok 11 "11" true {"a":11,"b":true}', '••• ok ••• "11" ••• {"a":11,"b":true}'],
    [['a-key-of-mine-4f2a91'], 'A-KEY-OF-MINE-4F2A91 and KEY-of-mine-4f', '••• and •••'],
    [['a-key-of-mine-4f2a91'], 'only key-of-mine stays', 'only key-of-mine stays'],
    [['a-key-of-mine-4f2a91'], Buffer.from('a-key-of-mine-4f2a91').toString('base64'), '•••='],
    [['Bearer abcdefgh'], `x ${Buffer.from('abcdefgh').toString('base64url')}`, 'x •••'],
    [['abcdefgh', 'efghijkl'], 'abcdefghijkl', '•••'],
    [[], 'nothing to hide', 'nothing to hide'],
  ])('of %j turns %j into %j', (values, text, expected) => {
    expect(redactionOf(values)(text, false)).toBe(expected);
  });

  it('hides short values never in names, and keeps letters whose lower case is longer', () => {
    expect(redactionOf(['x-count'])('x-count', false, true)).toBe('x-count');
    expect(redactionOf(['a secret value'])('İİİ A Secret Value İ', false)).toBe('İİİ ••• İ');
  });

  it.each([
    ['… secret', '… •••'],
    ['… secr', '… •••'],
    ['… sec', '… sec'],
    ['… secret-one', '… •••'],
  ])('hides the beginning of a value where the text was cut: %j', (text, expected) => {
    expect(redactionOf(['secret-one'])(text, true)).toBe(expected);
    if (!text.endsWith('one')) expect(redactionOf(['secret-one'])(text, false)).toBe(text);
  });

  it('leaves no value, wherever it stands and however it is cut', () => {
    const values = fc.array(fc.stringMatching(/^[!-~]{8,40}$/), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(values, fc.array(fc.string()), fc.nat(200), (secrets, texts, length) => {
        const whole = texts.map((text, i) => text + secrets[i % secrets.length]!).join('');
        const redacted = redactionOf(secrets)(whole.slice(0, length), length < whole.length);
        for (const secret of secrets) expect(redacted).not.toContain(secret);
      }),
    );
  });
});
