import { bearerTokenOf, senderOf } from './credentials';

const incoming = (authorization: string[] | undefined, ip = '192.0.2.1', remoteAddress?: string) => ({
  raw: { headersDistinct: { authorization } },
  ip,
  socket: { remoteAddress },
});

describe('The bearer token of a request', () => {
  it.each([
    [['Bearer abc'], 'abc'],
    [['bearer abc'], 'abc'],
    [['Basic abc'], undefined],
    [['Bearer'], undefined],
    [['Bearer a b'], undefined],
    [['Bearer abc', 'Bearer abc'], undefined],
    [undefined, undefined],
  ])('in %j is %j', (headers, token) => {
    expect(bearerTokenOf(incoming(headers))).toBe(token);
  });
});

describe('The sender of a request', () => {
  it('is the proxy when the forwarded value is not an address', () => {
    expect(senderOf(incoming(undefined, 'nonsense', '198.51.100.7'))).toBe('198.51.100.7');
    expect(senderOf(incoming(undefined, 'nonsense'))).toBe('unknown');
    expect(senderOf(incoming(undefined))).toBe('192.0.2.1');
  });
});
