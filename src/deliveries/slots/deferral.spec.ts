import type { MetricsService } from '../../infrastructure/metrics/metrics.service';
import type { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import { DeferralService } from './deferral.service';
import type { DeferredKey, DeferredRepository } from './deferred.repository';

const metrics = { counter: () => ({ inc: () => undefined }), gauge: () => undefined } as unknown as MetricsService;
const limited: DeferredKey = { userId: 'u', webhookId: 'w', maxPerSecond: 8 };
const free: DeferredKey = { userId: 'u', webhookId: 'w', maxPerSecond: null };

describe('A webhook whose rate is used up', () => {
  const keys = jest.fn();
  const mayBegin = jest.fn();
  let deferral: DeferralService;
  beforeEach(() => {
    jest.useFakeTimers();
    jest.resetAllMocks();
    const deferrals = { keys } as Partial<DeferredRepository> as DeferredRepository;
    deferral = new DeferralService(deferrals, {} as WaitingRowsRepository, metrics);
    deferral.whenDeferred(mayBegin);
  });
  afterEach(() => jest.useRealTimers());

  it('rests until its next permit, whatever is deferred meanwhile, and then begins by itself', () => {
    deferral.rest(limited, 2000);
    deferral.note(limited);
    jest.advanceTimersByTime(1999);
    expect([deferral.hasDeferred('w'), mayBegin.mock.calls.length]).toEqual([false, 0]);
    jest.advanceTimersByTime(1);
    expect([deferral.hasDeferred('w'), mayBegin.mock.calls.length]).toEqual([true, 1]);
  });

  it('rests for 100 ms at least, so that several of its attempts begin together', () => {
    deferral.rest(limited, 3);
    jest.advanceTimersByTime(99);
    expect(deferral.hasDeferred('w')).toBe(false);
    jest.advanceTimersByTime(1);
    expect(deferral.hasDeferred('w')).toBe(true);
  });

  it('ends its rest when PostgreSQL has permits for it: its rate was raised', async () => {
    deferral.rest({ ...limited, maxPerSecond: 0.1 }, 9000);
    keys.mockResolvedValue([{ ...limited, mayBegin: false }]);
    await deferral.refresh();
    expect(deferral.hasDeferred('w')).toBe(false);
    keys.mockResolvedValue([{ ...limited, mayBegin: true }]);
    await deferral.refresh();
    expect(deferral.hasDeferred('w')).toBe(true);
    jest.advanceTimersByTime(9000);
    expect(mayBegin).not.toHaveBeenCalled();
  });

  it('is not asked again for 100 ms when other processes have its permits', () => {
    deferral.note(limited);
    deferral.forget('w', false);
    deferral.note(limited);
    expect([deferral.hasDeferred('w'), mayBegin.mock.calls.length]).toEqual([false, 1]);
    jest.advanceTimersByTime(100);
    // It may have no more rows: nothing is asked until one is deferred, or found.
    expect([deferral.hasDeferred('w'), mayBegin.mock.calls.length]).toEqual([false, 1]);
    deferral.note(limited);
    expect([deferral.hasDeferred('w'), mayBegin.mock.calls.length]).toEqual([true, 2]);
  });

  it.each([
    ['it has no rate', free, false],
    ['some of its rows were claimed', limited, true],
  ])('does not rest when it has no more rows: %s', (_, key, foundSome) => {
    deferral.note(key);
    deferral.forget('w', foundSome);
    expect(deferral.hasDeferred('w')).toBe(false);
    deferral.note(key);
    expect(deferral.hasDeferred('w')).toBe(true);
  });
});
