import { Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { v7 } from 'uuid';
import type { ClockService } from '../plumbing/database/clock.service';
import type { QueueHealthService } from '../plumbing/queue/queue-health.service';
import type { DeliveriesRepository } from './deliveries.repository';
import { sendQueueIndex } from './send-queue-names';
import { type SendJob, SendQueue } from './send.queue';

const LANE = { userId: 'ada', webhookId: v7() };
const IDS = Array.from({ length: 40 }, () => v7());
/** Those of each of two queues. */
const OF = [0, 1].map((queue) => IDS.filter((id) => sendQueueIndex(id, 2) === queue)) as [string[], string[]];

/** Two queues of a cluster, the second of which is on a node that is away. */
function twoQueues() {
  const taken: string[][] = [];
  const released: string[] = [];
  const takes = {
    name: '{send-0}',
    addBulk: (jobs: { data: SendJob }[]) => Promise.resolve(taken.push(jobs.flatMap(({ data }) => data.deliveryIds))),
  };
  const isAway = { name: '{send-1}', addBulk: () => Promise.reject(new Error('the node is away')) };
  const deliveries = { releaseLeases: (ids: string[]) => Promise.resolve(released.push(...ids)) };
  const queue = new SendQueue(
    [takes, isAway] as unknown as Queue<SendJob>[],
    {} as QueueHealthService,
    { now: () => new Date() } as ClockService,
    deliveries as unknown as DeliveriesRepository,
  );
  return { queue, taken, released };
}

describe('Send queues of which one is away', () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('take what is offered at the same time in one step, and release what the other does not take', async () => {
    const { queue, taken, released } = twoQueues();
    await Promise.all(IDS.map((id) => queue.offer([id], LANE)));
    expect({ taken, released }).toEqual({ taken: [OF[0]], released: OF[1] });
  });

  it('release no more than that of an offer of many', async () => {
    const { queue, taken, released } = twoQueues();
    await queue.offer(IDS, LANE);
    expect({ taken, released }).toEqual({ taken: [OF[0]], released: OF[1] });
  });

  it('release no more than that for the sweeper, which hears of it', async () => {
    const { queue, taken, released } = twoQueues();
    await expect(queue.enqueue(IDS.map((id) => ({ id, ...LANE })))).rejects.toThrow('the node is away');
    expect({ taken, released }).toEqual({ taken: [OF[0]], released: OF[1] });
  });
});
