import type { FanOutQueue, StoredEvent } from '../../events/fan-out.queue';
import type { MetricsService } from '../../infrastructure/metrics/metrics.service';
import type { FanOutService } from '../fan-out/fan-out.service';
import type { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import type { SendQueue } from '../send.queue';
import type { SweepRepository } from './sweep.repository';
import { SweeperService } from './sweeper.service';

const EVERYTHING = null;
const LATELY_MS = 10_000;
const PAGE = 1000;

describe('A sweep', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** Sweeps every second; returns for each sweep the maximum age of the leases that it covered. */
  function started(found: number[] = []) {
    const bounds: (number | null)[] = [];
    const rows: Partial<SweepRepository> = {
      reclaimEvents: async (_limit, withinMs) => {
        bounds.push(withinMs);
        return {
          events: Array<StoredEvent>(found.shift() ?? 0).fill({ id: 'id', userId: 'u' }),
          next: null,
          isLocked: false,
        };
      },
    };
    const sweeper = new SweeperService(
      rows as SweepRepository,
      { reclaim: async () => [] } as Partial<WaitingRowsRepository> as WaitingRowsRepository,
      { remaining: Infinity, enqueue: async () => undefined } as Partial<FanOutQueue> as FanOutQueue,
      { usersWithEnough: [] } as Partial<FanOutService> as FanOutService,
      {
        remaining: Infinity,
        enqueueEach: async () => undefined,
        countByName: () => [],
      } as Partial<SendQueue> as SendQueue,
      { counterBy: () => ({ inc: () => undefined }), gauge: () => undefined } as unknown as MetricsService,
    );
    const sweep = async (seconds: number) => {
      bounds.length = 0;
      for (let second = 0; second < seconds; second++) {
        await sweeper.sweep();
        jest.advanceTimersByTime(1000);
      }
      return bounds;
    };
    return { sweep };
  }

  it('covers all leases at first and once a minute, otherwise those that expired recently', async () => {
    const { sweep } = started();
    expect(await sweep(1)).toEqual([EVERYTHING]);
    expect(await sweep(60)).toEqual(Array(60).fill(LATELY_MS));
    expect(await sweep(2)).toEqual([EVERYTHING, LATELY_MS]);
  });

  it('covers all leases again after a pause, during which leases may have expired long ago', async () => {
    const { sweep } = started();
    await sweep(3);
    jest.advanceTimersByTime(5000);
    expect(await sweep(2)).toEqual([EVERYTHING, LATELY_MS]);
  });

  it('covers all leases until a sweep has left none', async () => {
    const { sweep } = started(Array<number>(15).fill(PAGE));
    expect(await sweep(3)).toEqual([...Array(16).fill(EVERYTHING), LATELY_MS]);
  });
});
