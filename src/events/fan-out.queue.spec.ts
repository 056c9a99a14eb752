import { Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { QueueHealthService } from '../infrastructure/queue/queue-health.service';
import { type FanOutJob, FanOutQueue } from './fan-out.queue';

const ids = (count: number) => Array.from({ length: count }, (_, i) => `event-${i}`);
const eventsOf = (all: readonly string[], userId = 'u') => all.map((id) => ({ id, userId }));

describe('Events that are enqueued for the fan-out', () => {
  beforeAll(() => Logger.overrideLogger(false));

  function fanOutQueue(addBulk: jest.Mock) {
    const queue = new FanOutQueue(
      { addBulk } as Partial<Queue<FanOutJob>> as Queue<FanOutJob>,
      {} as QueueHealthService,
    );
    /** The events of each job, once `count` events have arrived. */
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

  it('share a job when they were committed together, even if they arrive one by one', async () => {
    const { queue, jobsOf } = fanOutQueue(jest.fn().mockResolvedValue([]));
    for (const id of ids(20)) queue.add(eventsOf([id]));
    expect(await jobsOf(20)).toEqual([ids(20)]);
  });

  it('are split into jobs of at most 100', async () => {
    const { queue, jobsOf } = fanOutQueue(jest.fn().mockResolvedValue([]));
    queue.add(eventsOf(ids(250)));
    expect((await jobsOf(250)).map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  it('are left to the sweeper when enqueuing fails; later events are enqueued', async () => {
    const addBulk = jest.fn().mockRejectedValueOnce(new Error('away')).mockResolvedValue([]);
    const { queue, jobsOf } = fanOutQueue(addBulk);
    queue.add(eventsOf(['lost']));
    await jobsOf(1);
    queue.add(eventsOf(['next']));
    expect(await jobsOf(2)).toEqual([['lost'], ['next']]);
  });

  it('never exceed 10,000 of one user in memory: the rest is left to the sweeper, and others have their places', async () => {
    const { queue, jobsOf } = fanOutQueue(jest.fn().mockResolvedValue([]));
    queue.add(eventsOf(ids(12_000)));
    queue.add(eventsOf(['other'], 'b'));
    const jobs = await jobsOf(10_001);
    expect(jobs.flat().filter((id) => id !== 'other')).toEqual(ids(10_000));
    expect(jobs[0]).toContain('other');
  });

  it('are counted by job for the free queue capacity', async () => {
    const getJobCountByTypes = jest.fn().mockResolvedValue(97);
    const queue = new FanOutQueue(
      { addBulk: jest.fn().mockResolvedValue([]), getJobCountByTypes } as object as Queue<FanOutJob>,
      {} as QueueHealthService,
    );
    expect(queue.remaining).toBe(10_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(queue.remaining).toBe(300);
    await queue.enqueue(eventsOf(ids(150)));
    expect(queue.remaining).toBe(100);
    expect(getJobCountByTypes.mock.calls).toEqual([['waiting']]);
  });

  it('become jobs only if no worker in this process takes them', async () => {
    const addBulk = jest.fn().mockResolvedValue([]);
    const { queue, jobsOf } = fanOutQueue(addBulk);
    const taken: string[] = [];
    queue.offerTo(({ id }) => taken.length < 2 && taken.push(id) > 0);
    queue.add(eventsOf(['here']));
    queue.add(eventsOf(['here too', 'elsewhere']));
    expect(await jobsOf(1)).toEqual([['elsewhere']]);
    expect(taken).toEqual(['here', 'here too']);
    expect((addBulk.mock.calls as [{ data: FanOutJob }[]][])[0]?.[0]?.[0]?.data.userIds).toEqual(['u']);
  });
});
