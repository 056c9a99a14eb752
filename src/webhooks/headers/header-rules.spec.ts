import type { ApiError } from '../../infrastructure/errors/api-error';
import { isRefused } from '../../infrastructure/config/refused-headers';
import { parseHeaders, reservedErrors } from './header-rules';

function fieldsOf(value: unknown, canRemove = true): string[] {
  try {
    parseHeaders(value, canRemove);
    return [];
  } catch (error) {
    return ((error as ApiError).details ?? []).map(({ field }) => field);
  }
}

const numbered = (count: number, value = 'x') =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, value]));

describe('Headers of a webhook', () => {
  it.each([
    [null],
    [{}],
    [{ Authorization: 'Bearer abc', 'X-Api-Key': 'a', 'x-1': null }],
    [{ x: '!~ inner  spaces ~!' }],
    [{ ['n'.repeat(64)]: 'v'.repeat(1024) }],
    [JSON.parse('{"constructor":"a"}')],
    [numbered(10, 'v'.repeat(400))],
  ])('may be %j', (value) => {
    expect(parseHeaders(value, true)).toEqual(value);
  });

  it.each([
    [5, ['headers']],
    [['a'], ['headers']],
    [{ '': 'x' }, ['headers']],
    [{ 'x y': 'x', x_y: 'x', 'x:': 'x', é: 'x' }, ['headers', 'headers', 'headers', 'headers']],
    [{ ['n'.repeat(65)]: 'x' }, ['headers']],
    [{ 'X-Key': 'a', 'x-key': 'b' }, ['headers']],
    [
      { a: '', b: ' x', c: 'x ', d: 'x\n', e: 'x\r\ny: z', f: 'x\ty', g: 'é', h: '\0' },
      'abcdefgh'.split('').map((n) => `headers.${n}`),
    ],
    [{ a: 'v'.repeat(1025) }, ['headers.a']],
    [{ a: 1, b: ['x'], c: {}, d: true }, ['headers.a', 'headers.b', 'headers.c', 'headers.d']],
    [{ a: '•••' }, ['headers.a']],
    [numbered(11), ['headers']],
    [numbered(21), ['headers']],
    [numbered(10, 'v'.repeat(500)), ['headers']],
    [{ 'X-Service-Signature': 'x', COOKIE: 'x' }, ['headers.X-Service-Signature', 'headers.COOKIE']],
  ])('may not be %j', (value, fields) => {
    expect(fieldsOf(value)).toEqual(fields);
  });

  it('may be null one by one only where they can be removed', () => {
    expect(fieldsOf({ a: null }, false)).toEqual(['headers.a']);
  });

  it('are never repeated in an error', () => {
    try {
      parseHeaders({ a: 'a secret value\n', 'X-Service-A': 'another' }, true);
    } catch (error) {
      expect(JSON.stringify((error as ApiError).details)).not.toMatch(/secret|another/);
    }
    expect.assertions(1);
  });
});

describe('A header that an owner must not set', () => {
  const NAMES =
    'connection keep-alive te trailer transfer-encoding upgrade expect host date via forwarded content-type content-length accept-encoding range max-forwards user-agent cookie set-cookie traceparent tracestate baggage b3 x-b3-traceid metadata metadata-flavor x-aws-ec2-metadata-token x-http-method x-http-method-override x-method-override x-original-url x-rewrite-url x-real-ip x-client-ip true-client-ip cf-connecting-ip x-envoy-original-path x-auth-request-user remote-user x-request-id x-service-signature webhook-id svix-id proxy-authorization x-forwarded-for';

  it.each(NAMES.split(' '))('is %s, in any case', (name) => {
    expect([name, name.toUpperCase()].map(isRefused)).toEqual([true, true]);
  });

  it.each(['authorization', 'x-api-key', 'x-content', 'accept', 'x-servicekey', 'referer', 'teapot', 'hosts'])(
    'is not %s',
    (name) => {
      expect(isRefused(name)).toBe(false);
    },
  );
});

describe('Headers of the service', () => {
  const errorsOf = (...names: string[]) =>
    reservedErrors(Object.fromEntries(names.map((name) => [name, 'a'])), ['x-service', 'x-acme']).map(
      ({ field }) => field,
    );

  it('are exactly seven under each prefix, in any case, and can be removed', () => {
    const parts = ['signature', 'signature-previous', 'event', 'delivery', 'attempt', 'trigger', 'subject'];
    const names = parts.map((part) => `X-Acme-${part}`);
    expect(errorsOf(...names)).toEqual(names.map((name) => `headers.${name}`));
    expect(errorsOf('x-acme-key', 'x-acme', 'x-acme-events', 'acme-event')).toEqual([]);
    expect(errorsOf('x-service-key')).toEqual(['headers.x-service-key']);
    expect(reservedErrors({ 'x-acme-event': null }, ['x-acme'])).toEqual([]);
    expect([reservedErrors(null, ['x-acme']), reservedErrors(undefined, ['x-acme'])]).toEqual([[], []]);
  });
});
