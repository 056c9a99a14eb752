import { ADVISED_STATUSES, deliveryError, ERROR_CODES } from './delivery-error';

const url = 'https://hooks.example.com:8443/in?key=secret';
const facts = { durationMs: 12, timeoutMs: 10_000, url, responseStatus: 500, rule: 'private network' };
const bare = { durationMs: 0, timeoutMs: 10_000 };
const sayHttp = (responseStatus: number) => deliveryError('http_status', { ...facts, responseStatus }).message;

describe('The error codes', () => {
  it('are a closed list', () => {
    expect([...ERROR_CODES].sort()).toEqual([
      'backlog_full',
      'connection_refused',
      'connection_reset',
      'destination_blocked',
      'dns_failed',
      'dns_not_found',
      'expired',
      'http_status',
      'internal',
      'invalid_response',
      'projection_failed',
      'proxy_failed',
      'redirect',
      'rejected',
      'service_failed',
      'timeout',
      'tls_invalid',
      'unreachable',
      'webhook_deleted',
      'webhook_disabled',
    ]);
  });

  it.each(ERROR_CODES)('have a message for %s, without an address', (code) => {
    const { message, ...rest } = deliveryError(code, facts);
    expect(rest).toEqual({ code });
    expect(message).toMatch(/^[A-Z][^\n]+[a-zA-Z_]\.$/);
    expect(message).not.toMatch(/\d+\.\d+\.\d+|[0-9a-f]*:[0-9a-f]*:|undefined|null|NaN/i);
  });

  it.each(ERROR_CODES.filter((code) => code !== 'http_status' && code !== 'redirect'))(
    'have a message for %s that requires no response',
    (code) => {
      expect(deliveryError(code, bare).message).not.toMatch(/undefined|null|NaN/);
    },
  );

  it('have distinct messages', () => {
    const messages = ERROR_CODES.map((code) => deliveryError(code, facts).message);
    expect(new Set(messages).size).toBe(ERROR_CODES.length);
  });
});

describe('The advice', () => {
  it.each([
    [400, /body of its response.*further keys/],
    [401, /raw body, before any parsing.*npx webhooks verify/],
    [402, /Any 2xx counts/],
    [403, /raw body.*firewall.*CSRF/],
    [404, /path/],
    [405, /does not accept POST/],
    [406, /accept header/],
    [408, /proxy/],
    [409, /repeats are normal/],
    [410, /gone for good.*Set active to true/],
    [413, /limit on request bodies/],
    [415, /application\/json/],
    [419, /CSRF/],
    [422, /further keys/],
    [426, /HTTP\/1.1/],
    [429, /less often.*Retry-After/],
    [431, /limit on request headers/],
    [451, /Any 2xx counts/],
    [500, /log at this time/],
    [501, /POST/],
    [502, /proxy.*logs of both/],
    [503, /Retry-After/],
    [504, /proxy.*took too long/],
    [507, /log/],
    [520, /Cloudflare/],
    [527, /Cloudflare/],
    [528, /log/],
    [999, /log/],
  ])('for status %i matches its meaning', (status, advice) => {
    expect(sayHttp(status)).toMatch(`Your server answered ${status} after 12 ms. `);
    expect(sayHttp(status)).toMatch(advice);
  });

  it('for a blocked destination names the rule and the setting that could allow it', () => {
    expect(deliveryError('destination_blocked', facts).message).toMatch(/\(private network\).*ALLOWED_NETWORKS/);
    expect(deliveryError('destination_blocked', bare).message).toMatch(/\(special-purpose address\)/);
    expect(deliveryError('destination_blocked', { ...bare, rule: 'egress proxy' }).message).not.toContain('ALLOWED');
  });
});

describe('The message of an error', () => {
  const say = (code: (typeof ERROR_CODES)[number], more: object = {}) =>
    deliveryError(code, { ...facts, ...more }).message;

  it.each(ADVISED_STATUSES)('includes status %i and the duration, with its own advice', (status) => {
    const others = ADVISED_STATUSES.filter((other) => other !== status && ![400, 422].includes(other));
    const advice = sayHttp(status).replace(`Your server answered ${status} after 12 ms. `, '');
    expect(advice).toMatch(/^[A-Z].*\.$/);
    expect(others.filter((other) => sayHttp(other).endsWith(` ms. ${advice}`))).toEqual([]);
  });

  it.each([301, 302, 303, 304, 307, 308])(
    'says that %i is not followed, and which url to register',
    (responseStatus) => {
      expect(say('redirect', { responseStatus })).toMatch(
        new RegExp(`\\(${responseStatus}\\), and redirects are never followed\\. Register the final url`),
      );
    },
  );

  it.each([
    ['dns', /^The name hooks\.example\.com was not resolved within 10000 ms\. .*name servers/],
    [
      'connect',
      /^Your server \(hooks\.example\.com, port 8443\) did not take the connection within 10000 ms\. .*firewall/,
    ],
    ['tls', /took the connection, but did not finish the TLS handshake within 10000 ms\./],
    ['response', /took the request, but did not answer within 10000 ms\. Answer 2xx at once/],
    [undefined, /did not answer within 10000 ms\. Answer 2xx at once/],
  ])('names the phase of a timeout: %s', (phase, message) => {
    expect(say('timeout', { phase })).toMatch(message);
  });

  it.each([
    ['expired', /has expired\. Renew/],
    ['not_yet_valid', /not valid yet/],
    ['wrong_host', /for another host name/],
    ['self_signed', /self-signed/],
    ['incomplete_chain', /intermediate certificates/],
    ['no_tls', /does not speak TLS/],
    ['client_certificate', /client certificate/],
    ['handshake', /TLS 1\.2 or 1\.3/],
    [undefined, /valid, complete and issued for this name/],
  ])('names the cause of a TLS failure: %s', (tls, message) => {
    expect(say('tls_invalid', { tls })).toMatch(/^The TLS connection to hooks\.example\.com could not be trusted: /);
    expect(say('tls_invalid', { tls })).toMatch(message);
  });

  it.each(['connection_refused', 'connection_reset', 'unreachable', 'invalid_response'] as const)(
    'includes host and port for %s',
    (code) => {
      expect(say(code)).toContain('(hooks.example.com, port 8443)');
      expect(say(code, { url: 'http://a.example/' })).toContain('(a.example, port 80)');
      expect(say(code, { url: 'https://a.example/' })).toContain('(a.example, port 443)');
    },
  );

  it.each(ERROR_CODES)('never includes the path or query of the url: %s', (code) => {
    expect(say(code)).not.toMatch(/\/in|key=|secret\b.*=/);
  });
});
