import { deliveryError, ERROR_CODES } from './failure';

const facts = { durationMs: 12, timeoutMs: 10_000, responseStatus: 500, rule: 'private network' };
const bare = { durationMs: 0, timeoutMs: 10_000 };
const sayHttp = (responseStatus: number) => deliveryError('http_status', { ...facts, responseStatus }).message;

describe('The error codes', () => {
  it('are this closed list', () => {
    expect([...ERROR_CODES].sort()).toEqual([
      'connection_refused',
      'connection_reset',
      'destination_blocked',
      'dns_not_found',
      'http_status',
      'internal',
      'invalid_response',
      'redirect',
      'timeout',
      'tls_invalid',
      'unreachable',
      'webhook_deleted',
      'webhook_disabled',
    ]);
  });

  it.each(ERROR_CODES)('have sentences for %s, without an address', (code) => {
    const { message, ...rest } = deliveryError(code, facts);
    expect(rest).toEqual({ code });
    expect(message).toMatch(/^[A-Z][^\n]+[a-zA-Z_]\.$/);
    expect(message).not.toMatch(/\d+\.\d+\.\d+|[0-9a-f]*:[0-9a-f]*:|undefined|null|NaN/i);
  });

  it.each(ERROR_CODES.filter((code) => code !== 'http_status' && code !== 'redirect'))(
    'have sentences for %s that do without an answer',
    (code) => {
      expect(deliveryError(code, bare).message).not.toMatch(/undefined|null|NaN/);
    },
  );

  it('have sentences that differ', () => {
    const messages = ERROR_CODES.map((code) => deliveryError(code, facts).message);
    expect(new Set(messages).size).toBe(ERROR_CODES.length);
  });
});

describe('The advice on', () => {
  it.each([
    [400, /2xx/],
    [401, /raw body/],
    [403, /raw body/],
    [404, /path/],
    [405, /POST/],
    [410, /gone/],
    [413, /limit/],
    [429, /Retry-After/],
    [500, /log/],
    [503, /log/],
    [999, /log/],
  ])('%i is about what it means', (status, advice) => {
    expect(sayHttp(status)).toMatch(`Your server answered ${status} after 12 ms. `);
    expect(sayHttp(status)).toMatch(advice);
  });

  it('a blocked destination names the rule and the setting that could allow it', () => {
    expect(deliveryError('destination_blocked', facts).message).toMatch(/\(private network\).*ALLOWED_NETWORKS/);
    expect(deliveryError('destination_blocked', bare).message).toMatch(/\(special-purpose address\)/);
  });
});
