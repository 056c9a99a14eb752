import type { Finding, SignatureFinding } from '../../api/signature';
import { mixedIn, rowsOf, verdictOf } from './verdict';

const SERVICE = 'x-service-signature';
const PREVIOUS = 'x-service-signature-previous';
const STANDARD = 'webhook-signature';
const value = (header: string, isValid: boolean): SignatureFinding => ({
  code: 'signature',
  header,
  mistakes: isValid ? [] : null,
  cut: null,
});
const time = (ageSeconds: number): Finding => ({ code: 'time_off', ageSeconds, toleranceSeconds: 300 });
const of = (...findings: Finding[]) => ({ genuine: false, findings });

describe('The verdict', () => {
  it.each([
    ['valid', [value(SERVICE, true), value(STANDARD, true)]],
    ['valid', [value(SERVICE, true), value(PREVIOUS, false), value(STANDARD, true), value(STANDARD, false)]],
    ['valid', [value(SERVICE, false), value(STANDARD, true)]],
    ['previous', [value(SERVICE, false), value(PREVIOUS, true), value(STANDARD, false), value(STANDARD, true)]],
    ['previous', [value(STANDARD, false), value(STANDARD, true)]],
    ['late', [value(SERVICE, true), value(STANDARD, true), time(301)]],
    ['early', [value(SERVICE, true), value(STANDARD, true), time(-301)]],
    ['untimed', [value(SERVICE, true), { code: 'time_unsigned' } as const]],
    ['partly', [value(SERVICE, true), value(STANDARD, false)]],
    ['partly', [value(SERVICE, true), value(STANDARD, false), time(301)]],
    ['invalid', [value(SERVICE, false), value(STANDARD, false), time(301)]],
    ['unsigned', [{ code: 'header_missing', header: SERVICE } as const]],
  ] as const)('is %s: %#', (verdict, findings) => {
    expect(verdictOf(of(...findings))).toBe(verdict);
  });

  it('has one row for each header, valid when one of its values is', () => {
    const rows = rowsOf(of(value(SERVICE, false), value(STANDARD, false), value(STANDARD, true)));
    expect(rows.map(({ header, isValid }) => [header, isValid])).toEqual([
      [SERVICE, false],
      [STANDARD, true],
    ]);
  });
});

describe('Parts of two deliveries', () => {
  const request = (headers: Record<string, string>, body = '{"id":"evt_1"}') => ({
    headers,
    body: new TextEncoder().encode(body),
  });
  const sent = request({ 'webhook-id': 'evt_1', 'x-service-delivery': 'dlv_1' });

  it('are found by their ids', () => {
    const another = request({ 'webhook-id': 'evt_1', 'x-service-delivery': 'dlv_2' });
    expect(mixedIn(another, sent)).toEqual({ name: 'x-service-delivery', expected: 'dlv_1', actual: 'dlv_2' });
    const otherBody = request({ 'webhook-id': 'evt_1' }, '{"id":"evt_2","event":"a.b","data":{}}');
    expect(mixedIn(otherBody, null)).toEqual({ name: 'id', expected: 'evt_1', actual: 'evt_2' });
  });

  it.each([
    '{"id":"evt_1"}',
    '{"id":"inv_1","data":{}}',
    '{"id":"inv_1","event":"a"}',
    '{"text":"no id"}',
    '{"id":7}',
    'no JSON',
    'null',
  ])('are not in %j', (body) => {
    expect(mixedIn(request({ 'webhook-id': 'evt_1' }, body), sent)).toBeNull();
  });
});
