import { Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { v7 } from 'uuid';
import type { ClockService } from '../infrastructure/database/clock.service';
import type { QueueHealthService } from '../infrastructure/queue/queue-health.service';
import type { WaitingRowsRepository } from './rows/waiting-rows.repository';
import { type SendJob, SendQueue, sendQueueIndex } from './send.queue';

const KEY = { userId: 'ada', webhookId: v7() };
const IDS = Array.from({ length: 40 }, () => v7());
/** The ids of each of two queues. */
const OF = [0, 1].map((queue) => IDS.filter((id) => sendQueueIndex(id, 2) === queue)) as [string[], string[]];

/** Two queues of a cluster; the node of the second one is unavailable. */
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
    deliveries as unknown as WaitingRowsRepository,
  );
  return { queue, taken, released };
}

describe('Send queues of which one is unavailable', () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('enqueue the deliveries of concurrent calls together, and release the deliveries of the unavailable queue', async () => {
    const { queue, taken, released } = twoQueues();
    await Promise.all(IDS.map((id) => queue.enqueue([id], KEY)));
    expect({ taken, released }).toEqual({ taken: [OF[0]], released: OF[1] });
  });

  it('release only these deliveries of a single call', async () => {
    const { queue, taken, released } = twoQueues();
    await queue.enqueue(IDS, KEY);
    expect({ taken, released }).toEqual({ taken: [OF[0]], released: OF[1] });
  });

  it('release only these deliveries of the sweeper, and throw', async () => {
    const { queue, taken, released } = twoQueues();
    await expect(queue.enqueueEach(IDS.map((id) => ({ id, ...KEY })))).rejects.toThrow('the node is away');
    expect({ taken, released }).toEqual({ taken: [OF[0]], released: OF[1] });
  });
});
