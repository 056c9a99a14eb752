import { Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { QueueHealthService } from '../plumbing/queue/queue-health.service';
import { type FanOutJob, FanOutQueue } from './fan-out.queue';

const ids = (count: number) => Array.from({ length: count }, (_, i) => `event-${i}`);

describe('Events that are handed on to the fan-out', () => {
  beforeAll(() => Logger.overrideLogger(false));

  function fanOutQueue(addBulk: jest.Mock) {
    const queue = new FanOutQueue(
      { addBulk } as Partial<Queue<FanOutJob>> as Queue<FanOutJob>,
      {} as QueueHealthService,
    );
    /** The events of each job, once so many have arrived. */
    const jobsOf = async (count: number) => {
      for (;;) {
        const calls = addBulk.mock.calls as [{ data: FanOutJob }[]][];
        const jobs = calls.flatMap(([added]) => added.map(({ data }) => data.eventIds));
        if (jobs.flat().length >= count) return jobs;
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    return { queue, jobsOf };
  }

  it('are one job when they were committed together, though each is handed on for itself', async () => {
    const { queue, jobsOf } = fanOutQueue(jest.fn().mockResolvedValue([]));
    for (const id of ids(20)) queue.handOn([id]);
    expect(await jobsOf(20)).toEqual([ids(20)]);
  });

  it('are jobs of a hundred at most', async () => {
    const { queue, jobsOf } = fanOutQueue(jest.fn().mockResolvedValue([]));
    queue.handOn(ids(250));
    expect((await jobsOf(250)).map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  it('go on when the queue did not take some of them, which are left to the sweeper', async () => {
    const addBulk = jest.fn().mockRejectedValueOnce(new Error('away')).mockResolvedValue([]);
    const { queue, jobsOf } = fanOutQueue(addBulk);
    queue.handOn(['lost']);
    await jobsOf(1);
    queue.handOn(['next']);
    expect(await jobsOf(2)).toEqual([['lost'], ['next']]);
  });

  it('never pile up beyond ten thousand: the rest is left to the sweeper', async () => {
    const { queue, jobsOf } = fanOutQueue(jest.fn().mockResolvedValue([]));
    queue.handOn(ids(12_000));
    expect((await jobsOf(10_000)).flat()).toEqual(ids(10_000));
  });

  it('go no further when a worker in this process takes them', async () => {
    const addBulk = jest.fn().mockResolvedValue([]);
    const { queue, jobsOf } = fanOutQueue(addBulk);
    const take = jest.fn().mockReturnValueOnce(true).mockReturnValueOnce(false);
    queue.divert(take);
    queue.handOn(['here']);
    queue.handOn(['elsewhere']);
    expect(await jobsOf(1)).toEqual([['elsewhere']]);
  });
});
