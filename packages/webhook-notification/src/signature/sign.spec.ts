import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { serviceSignature, standardKey, standardSignature } from './sign';
import { isLoose, secretProblem, verifyingKeys } from './standard-key';

const whsec = (key: Uint8Array) => `whsec_${Buffer.from(key).toString('base64')}`;
const keyOf = (length: number) => Uint8Array.from({ length }, (_, i) => 255 - i);

describe('x-service-signature', () => {
  // The other vectors have keys or data that are not UTF-8.
  it.each([
    ['1', '\x0b'.repeat(20), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    ['2', 'Jefe', 'what do ya want for nothing?', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
  ])('is HMAC-SHA256 in hex: test case %s of RFC 4231', (_, secret, body, signature) => {
    expect(serviceSignature(body, secret)).toBe(signature);
  });

  it('reads secret and body as UTF-8', () => {
    // printf '{"a":"é"}' | openssl dgst -sha256 -hmac 'şifre-✓-密码'
    expect(serviceSignature('{"a":"é"}', 'şifre-✓-密码')).toBe(
      '5536967edcee94749fa43dfbaa1e03b3f0bd8696d61e3cbc73090db71c9b7262',
    );
  });

  it('reads a whsec_ secret as text, too', () => {
    const secret = whsec(keyOf(32));
    expect(serviceSignature('{}', secret)).not.toBe(serviceSignature('{}', Buffer.from(keyOf(32)).toString('latin1')));
    expect(serviceSignature('{}', secret)).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('webhook-signature', () => {
  it('matches the example of Standard Webhooks', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    expect(standardSignature('msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}', secret)).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });

  const bodies = fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.stringify({ value }));
  /** Verifies like a receiver that uses the JavaScript library of Standard Webhooks. */
  const verify = (receiver: Webhook, body: string, secret: string) => {
    const timestamp = Math.floor(Date.now() / 1000);
    return receiver.verify(body, {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': standardSignature('evt_1', timestamp, body, secret),
    });
  };

  it('with a whsec_ secret is accepted by the library with the same secret', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }).map(whsec), bodies, (secret, body) => {
        expect(verify(new Webhook(secret), body, secret)).toEqual(JSON.parse(body));
      }),
    );
  });

  it('with any other secret is accepted by the library with the bytes of the secret', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 8, maxLength: 256 }), bodies, (secret, body) => {
        const receiver = new Webhook(Buffer.from(secret), { format: 'raw' });
        expect(verify(receiver, body, secret)).toEqual(JSON.parse(body));
      }),
    );
  });

  it('is rejected by the library with another secret', () => {
    expect(() => verify(new Webhook(whsec(keyOf(32))), '{}', whsec(keyOf(33)))).toThrow('No matching signature found');
  });
});

describe('The key of webhook-signature', () => {
  it.each([24, 25, 26, 32, 63, 64])('is decoded from whsec_ and %i bytes', (length) => {
    expect(standardKey(whsec(keyOf(length)))).toEqual(Buffer.from(keyOf(length)));
  });

  it.each([
    ['23 bytes', whsec(keyOf(23))],
    ['65 bytes', whsec(keyOf(65))],
    ['no bytes', 'whsec_'],
    ['too much padding', `${whsec(keyOf(24))}=`],
    ['bits left over', whsec(keyOf(32)).replace(/.=$/, '/=')],
    ['a space', whsec(keyOf(32)).replace('_', '_ ')],
    ['a foreign character', whsec(keyOf(32)).replace('_', '_é')],
    ['the prefix in capitals', whsec(keyOf(32)).replace('whsec_', 'WHSEC_')],
    ['something before the prefix', ` ${whsec(keyOf(32))}`],
    ['no prefix', Buffer.from(keyOf(32)).toString('base64')],
  ])('is the text of a secret with %s', (_, secret) => {
    expect(standardKey(secret)).toEqual(Buffer.from(secret, 'utf8'));
  });

  it.each([24, 25, 26, 32, 64])('is decoded from base64 without padding, and from base64url, of %i bytes', (length) => {
    const [key, base64] = [Buffer.from(keyOf(length)), whsec(keyOf(length))];
    const loose = [base64.replace(/=+$/, ''), base64.replaceAll('+', '-').replace(/\/(?!$)/g, '_')];
    for (const secret of [...loose, `whsec_${key.toString('base64url')}`]) {
      expect(standardKey(secret)).toEqual(key);
      expect(secretProblem(secret)).toBeNull();
      expect([isLoose(secret), isLoose(base64)]).toEqual([secret !== base64, false]);
      expect(verifyingKeys(secret)[0]).toEqual(new Uint8Array(key));
      if (secret !== base64) expect(verifyingKeys(secret)[1]).toEqual(new Uint8Array(Buffer.from(secret)));
    }
  });

  it.each([
    [whsec(keyOf(23)), /24 to 64 bytes after whsec_, not of 23/],
    [whsec(keyOf(65)), /not of 65/],
    ['whsec_', /only base64/],
    [`${whsec(keyOf(32))} `, /without spaces/],
    [whsec(keyOf(32)).replace('_', '_ '), /without spaces/],
    [`${whsec(keyOf(24))}=`, /valid base64/],
    [whsec(keyOf(32)).replace(/.=$/, '/='), /valid base64/],
    [`v1,${whsec(keyOf(32))}`, /begin with whsec_ itself/],
    ['v1,anything', /begin with whsec_ itself/],
    [` ${whsec(keyOf(32))}`, /begin with whsec_ itself/],
    [`"${whsec(keyOf(32))}"`, /begin with whsec_ itself/],
    [whsec(keyOf(32)).replace('whsec_', 'WHSEC_'), /begin with whsec_ itself/],
    ['whsec_my own passphrase', /only base64/],
    ['whsec_+-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', /only base64/],
  ])('is refused for a new secret that only looks like one: %j', (secret, problem) => {
    expect(secretProblem(secret)).toMatch(problem);
  });

  it.each(['a secret of mine', 'v1', 'whsec', 'my whsec_abc', Buffer.alloc(32).toString('base64')])(
    'is the text of %j, and nothing is wrong with it',
    (secret) => expect(secretProblem(secret)).toBeNull(),
  );
});
