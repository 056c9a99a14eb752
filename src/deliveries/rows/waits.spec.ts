import { ERROR_CODES } from './delivery-error';
import { type Wait, waitAfter, waitOf, WAITS } from './waits';

const NOW = Date.parse('2026-01-15T09:30:00Z');
const ROW = {
  status: 'pending',
  url: 'https://receiver.example/',
  parked: false,
  claimed: false,
  scheduledAt: new Date(NOW),
  errorCode: null,
  hasRate: false,
} as const;
const LATER = { scheduledAt: new Date(NOW + 1) };

describe('A pending row', () => {
  it.each<[Wait | null, Partial<Parameters<typeof waitOf>[0]>]>([
    [null, {}],
    [null, { ...LATER, claimed: true }],
    [null, { ...LATER, status: 'failed' }],
    ['backoff', LATER],
    ['backoff', { ...LATER, url: null }],
    ['slot', { parked: true }],
    ['slot', { ...LATER, parked: true }],
    ['rate', { parked: true, hasRate: true }],
    ['proxy', { ...LATER, errorCode: 'proxy_failed' }],
    ['proxy', { errorCode: 'proxy_failed' }],
    ['slot', { parked: true, errorCode: 'proxy_failed' }],
    ['dns', { ...LATER, errorCode: 'dns_failed' }],
    ['operator', { ...LATER, errorCode: 'service_failed' }],
    ['operator', { url: null, errorCode: 'service_failed' }],
    ['consumer', { url: null }],
  ])('waits for %s when it is %j', (wait, row) => {
    expect(waitOf({ ...ROW, ...row }, NOW)).toBe(wait);
  });
});

it('The waits are those of the document, in its order', () => {
  expect(WAITS).toEqual(['backoff', 'slot', 'rate', 'proxy', 'dns', 'operator', 'consumer']);
});

it('An attempt is put back after a failure of ours, and after no other error', () => {
  const putBack = ERROR_CODES.flatMap((code) => (waitAfter(code) ? [[code, waitAfter(code)]] : []));
  expect(putBack).toEqual([
    ['proxy_failed', 'proxy'],
    ['dns_failed', 'dns'],
    ['service_failed', 'operator'],
  ]);
});
