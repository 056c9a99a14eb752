import type { Config } from '../../infrastructure/config/config';
import type { HealthService } from '../../infrastructure/health/health.service';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
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
    const config = { role: 'worker' } as Config;
    const tasks = new WorkerTasksService(config);
    new SweepTimerService(
      { sweep } as Partial<SweeperService> as SweeperService,
      { assertReachable: answer } as Partial<SweepRepository> as SweepRepository,
      { check: async () => undefined } as Partial<WatchdogService> as WatchdogService,
      { register: () => undefined } as Partial<HealthService> as HealthService,
      config,
      tasks,
    );
    tasks.onApplicationBootstrap();
    return { store, sweep, stop: () => tasks.stop() };
  }

  it('sweeps every second', async () => {
    const { sweep, stop } = timer();
    await jest.advanceTimersByTimeAsync(5000);
    expect(sweep).toHaveBeenCalledTimes(6);
    await stop();
  });

  it('sweeps again two seconds after PostgreSQL is available again, so that kept outcomes are written first', async () => {
    const { store, sweep, stop } = timer();
    store.error = new Error('Connection terminated unexpectedly');
    await jest.advanceTimersByTimeAsync(1000);
    expect(sweep).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(10_000);
    store.error = null;
    // The timer retries within a second, and then waits two.
    await jest.advanceTimersByTimeAsync(2999);
    expect(sweep).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(1);
    expect(sweep).toHaveBeenCalledTimes(3);
    await stop();
  });

  it('sweeps again at once when it was the queue that was unavailable', async () => {
    const { store, sweep, stop } = timer();
    store.error = new Error('Stream is not writeable');
    await jest.advanceTimersByTimeAsync(1000);
    store.error = null;
    await jest.advanceTimersByTimeAsync(1000);
    expect(sweep).toHaveBeenCalledTimes(3);
    await stop();
  });
});
