import { headerNames, isReservedHeader, parseHeaderPrefixes } from './header-prefixes';

describe('HEADER_PREFIX', () => {
  it.each([
    ['x-service', ['x-service']],
    ['x-acme', ['x-acme']],
    ['acme, x-service', ['acme', 'x-service']],
    ['x-convoy', ['x-convoy']],
    ['a1-2b', ['a1-2b']],
    [`x${'a'.repeat(31)}`, [`x${'a'.repeat(31)}`]],
  ])('may be %s', (text, prefixes) => expect(parseHeaderPrefixes(text)).toEqual(prefixes));

  it.each([
    ...['', ',', 'a,', 'a,b,c', 'x-acme,x-acme', 'X-Acme', '-a', 'a-', 'a--b', '1a', 'a_b', 'é', `x${'a'.repeat(32)}`],
    ...[
      'webhook',
      'svix',
      'content',
      'proxy',
      'cf',
      'x-b3',
      'x-forwarded',
      'x-envoy',
      'x-http',
      'x-service-a',
      'webhook-a',
    ],
    ...[
      'x',
      'keep',
      'set',
      'transfer',
      'accept',
      'user',
      'max',
      'x-real',
      'x-request',
      'x-aws',
      'x-aws-ec2',
      'metadata',
    ],
  ])('cannot be %j', (text) => expect(parseHeaderPrefixes(text)).toBeUndefined());

  it('names seven headers', () => {
    expect(Object.values(headerNames('x-acme'))).toEqual([
      ...['x-acme-signature', 'x-acme-signature-previous', 'x-acme-event', 'x-acme-delivery', 'x-acme-attempt'],
      ...['x-acme-trigger', 'x-acme-subject'],
    ]);
    expect(isReservedHeader('X-ACME-EVENT', ['x-acme'])).toBe(true);
    expect(isReservedHeader('x-service-anything', ['x-acme'])).toBe(true);
  });
});
