import type { HealthService } from '../../plumbing/health/health.service';
import type { SweeperService, Swept } from './sweeper.service';
import type { SweepRepository } from './sweep.repository';
import { SweepTimerService } from './sweep-timer.service';
import type { WatchdogService } from './watchdog.service';

const SWEPT: Swept = { events: 0, deliveries: 0, byQueue: new Map() };

describe('The timer of the sweeper', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  function timer() {
    const store = { error: null as Error | null };
    const answer = async () => {
      if (store.error) throw store.error;
    };
    const sweep = jest.fn(async () => answer().then(() => SWEPT));
    const started = new SweepTimerService(
      { sweep } as Partial<SweeperService> as SweeperService,
      { assertReachable: answer } as Partial<SweepRepository> as SweepRepository,
      { judge: async () => undefined } as Partial<WatchdogService> as WatchdogService,
      { register: () => undefined } as Partial<HealthService> as HealthService,
    );
    started.start();
    return { store, sweep, stop: () => started.stop() };
  }

  it('sweeps every second', async () => {
    const { sweep, stop } = timer();
    await jest.advanceTimersByTimeAsync(5000);
    expect(sweep).toHaveBeenCalledTimes(6);
    await stop();
  });

  it('sweeps again two seconds after PostgreSQL has come back, so that outcomes that were kept are written first', async () => {
    const { store, sweep, stop } = timer();
    store.error = new Error('Connection terminated unexpectedly');
    await jest.advanceTimersByTimeAsync(1000);
    expect(sweep).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(10_000);
    store.error = null;
    // It is tried again within a second, and then it takes two.
    await jest.advanceTimersByTimeAsync(2999);
    expect(sweep).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(1);
    expect(sweep).toHaveBeenCalledTimes(3);
    await stop();
  });

  it('sweeps again at once when it was the queue that was away', async () => {
    const { store, sweep, stop } = timer();
    store.error = new Error('Stream is not writeable');
    await jest.advanceTimersByTimeAsync(1000);
    store.error = null;
    await jest.advanceTimersByTimeAsync(1000);
    expect(sweep).toHaveBeenCalledTimes(3);
    await stop();
  });
});
