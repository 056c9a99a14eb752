import { asShown } from './stopping';

const PENDING = { id: 'one', status: 'pending', errorCode: null, errorMessage: null, completedAt: null };

describe('A pending row', () => {
  it('is shown as it is stored while its webhook is not stopping', () => {
    const row = { ...PENDING, stopped: null };
    expect(asShown(row)).toBe(row);
  });

  it.each(['webhook_disabled', 'webhook_deleted'] as const)(
    'is shown as canceled when its webhook stops: %s',
    (reason) => {
      const stopped = { reason, at: '2026-01-15T09:30:00.123+00:00' };
      // An egress proxy had failed.
      expect(asShown({ ...PENDING, errorCode: 'proxy_failed', stopped })).toEqual({
        ...{
          id: 'one',
          status: 'canceled',
          errorCode: reason,
          errorMessage: expect.stringMatching(/^The webhook was /),
        },
        ...{ completedAt: new Date('2026-01-15T09:30:00.123Z'), stopped },
      });
    },
  );
});
