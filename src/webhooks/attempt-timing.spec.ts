import { ApiError } from '../infrastructure/errors/api-error';
import { schema } from '../infrastructure/config/settings-schema';
import { MAX_RETRY_DELAYS, MAX_TIMEOUT_MS, MIN_TIMEOUT_MS, parseRetryDelays, timingErrors } from './attempt-timing';
import { DAY_MS } from '../infrastructure/config/durations';

describe('The retry delays of a request', () => {
  it.each([[null], [[]], [[1000]], [[DAY_MS, 1000, DAY_MS]]])('%j are taken as they are', (delays) => {
    expect(parseRetryDelays(delays)).toEqual(delays);
  });

  it.each<[unknown, string[]]>([
    [5, ['retryDelaysMs']],
    ['1000', ['retryDelaysMs']],
    [{ length: 0 }, ['retryDelaysMs']],
    [[1000, 1000, 1000, 1000], ['retryDelaysMs']],
    [[999], ['retryDelaysMs[0]']],
    [[1000, DAY_MS + 1], ['retryDelaysMs[1]']],
    [
      [1000.5, 1000, '1000'],
      ['retryDelaysMs[0]', 'retryDelaysMs[2]'],
    ],
    [
      [null, [1000], NaN],
      ['retryDelaysMs[0]', 'retryDelaysMs[1]', 'retryDelaysMs[2]'],
    ],
  ])('%j are refused, naming each invalid delay', (delays, fields) => {
    expect(fieldsOf(() => parseRetryDelays(delays))).toEqual(fields);
  });
});

describe('The settings', () => {
  const settings = { deliveryTimeoutMs: 10_000, maxRetries: 2, retentionDays: 1 };

  it.each([
    [{}],
    [{ timeoutMs: null, retryDelaysMs: null }],
    [{ timeoutMs: 10_000, retryDelaysMs: [] }],
    [{ retryDelaysMs: [1000, DAY_MS - 1000] }],
  ])('allow %j', (timing) => {
    expect(timingErrors(timing, settings)).toEqual([]);
  });

  it.each([
    [{ timeoutMs: 10_001 }, 'timeoutMs', /10000.*DELIVERY_TIMEOUT_MS/],
    [{ retryDelaysMs: [1000, 1000, 1000] }, 'retryDelaysMs', /2.*MAX_RETRIES/],
    [{ retryDelaysMs: [1000, DAY_MS - 999] }, 'retryDelaysMs', /86400000.*RETENTION_DAYS/],
  ])('refuse %j, naming the bound and the setting', (timing, field, message) => {
    expect(timingErrors(timing, settings)).toEqual([
      { field, code: 'invalid', message: expect.stringMatching(message) },
    ]);
  });

  it('refuse all that they do not allow at once', () => {
    const errors = timingErrors({ timeoutMs: 60_000, retryDelaysMs: [DAY_MS, DAY_MS, DAY_MS] }, settings);
    expect(errors.map(({ field }) => field)).toEqual(['timeoutMs', 'retryDelaysMs', 'retryDelaysMs']);
  });

  it('can be as high as the bounds of the document, and no higher', () => {
    const { deliveryTimeoutMs, maxRetries } = schema.shape;
    for (const text of [MIN_TIMEOUT_MS, MAX_TIMEOUT_MS].map(String))
      expect(deliveryTimeoutMs.safeParse(text).success).toBe(true);
    expect(deliveryTimeoutMs.safeParse(String(MAX_TIMEOUT_MS + 1)).success).toBe(false);
    expect(maxRetries.safeParse(String(MAX_RETRY_DELAYS)).success).toBe(true);
    expect(maxRetries.safeParse(String(MAX_RETRY_DELAYS + 1)).success).toBe(false);
  });
});

function fieldsOf(parse: () => unknown): string[] {
  try {
    parse();
  } catch (error) {
    if (error instanceof ApiError) return error.details!.map(({ field }) => field);
  }
  throw new Error('accepted');
}
