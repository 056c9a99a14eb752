import type { FailureCode, TlsFault } from '../../infrastructure/destinations/failure';
import type { HttpResult } from '../../infrastructure/destinations/exchange.client';
import { classify, withoutOurClock } from './classify';

const response = (status: number): HttpResult => ({
  kind: 'response',
  status,
  headers: {},
  body: '',
  bodyTruncated: false,
  durationMs: 12,
});
const failed = (code: string, retry: boolean, gone = false) => ({
  status: 'failed',
  error: { code, message: expect.stringMatching(/\.$/) },
  retry,
  gone,
});
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('A certificate that is out of its time', () => {
  const failure = (tls: TlsFault): HttpResult => ({ kind: 'failure', code: 'tls_invalid', tls, durationMs: 1 });
  it.each<[string, TlsFault, number]>([
    ['service_failed', 'expired', 11 * 60_000],
    ['service_failed', 'not_yet_valid', -11 * 60_000],
    ['tls_invalid', 'expired', 9 * 60_000],
    ['tls_invalid', 'self_signed', 11 * 60_000],
  ])('is %s when it is %s and the clocks differ by %i ms', (code, tls, offsetMs) => {
    expect(withoutOurClock(failure(tls), offsetMs)).toEqual({ ...failure(tls), code });
  });
});

describe('An attempt', () => {
  it.each([
    ['succeeds with every 2xx', 200, 300, { status: 'succeeded' }],
    ['fails with every 3xx, and is retried', 300, 400, failed('redirect', true)],
    ['fails with every 4xx, and is retried', 400, 410, failed('http_status', true)],
    ['fails with 410, and is not retried, because the receiver is gone', 410, 411, failed('http_status', false, true)],
    ['fails with every other 4xx, 5xx and beyond, and is retried', 411, 1000, failed('http_status', true)],
  ])('%s', (_, from, to, verdict) => {
    for (const status of range(from, to)) {
      expect({ status, verdict: classify(response(status), 10_000, 'https://example.com/hook') }).toEqual({
        status,
        verdict,
      });
    }
  });

  it.each<[FailureCode, boolean]>([
    ['timeout', true],
    ['connection_refused', true],
    ['connection_reset', true],
    ['unreachable', true],
    ['proxy_failed', true],
    ['dns_not_found', true],
    ['tls_invalid', true],
    ['invalid_response', true],
    ['destination_blocked', false],
  ])('fails with %s; retried: %p', (code, retry) => {
    expect(classify({ kind: 'failure', code, durationMs: 12 }, 10_000, 'https://example.com/hook')).toEqual(
      failed(code, retry),
    );
  });

  it('includes its details in the message', () => {
    const blocked: HttpResult = { kind: 'failure', code: 'destination_blocked', rule: 'loopback', durationMs: 1 };
    const messages = [response(503), response(302), blocked, { ...blocked, code: 'timeout' as const }].map((result) => {
      const verdict = classify(result, 9876);
      return verdict.status === 'failed' ? verdict.error.message : '';
    });
    expect(messages).toEqual([
      expect.stringContaining('503 after 12 ms'),
      expect.stringContaining('(302)'),
      expect.stringContaining('(loopback)'),
      expect.stringContaining('within 9876 ms'),
    ]);
  });
});
