import fc from 'fast-check';
import { v7 } from 'uuid';
import { CLUSTER_SEND_QUEUES } from '../infrastructure/config/redis-nodes';
import { firstDeliveryId } from './fan-out/first-delivery-id';
import { sendQueueIndex, sendQueueNames } from './send.queue';

const SIX = ['{send-0}', '{send-1}', '{send-2}', '{send-3}', '{send-4}', '{send-5}'];

it('There is one send queue, or six on a Redis cluster', () => {
  expect([null, 'redis://a', 'redis://a,redis://b'].map(sendQueueNames)).toEqual([['{send-0}'], ['{send-0}'], SIX]);
});

describe('The queue of a delivery', () => {
  it('is the only queue when there is one', () => {
    fc.assert(fc.property(fc.uuid(), (id) => sendQueueIndex(id, 1) === 0));
  });

  it('is always the same, and one of the given number', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 1, max: 100 }), (id, count) => {
        const index = sendQueueIndex(id, count);
        return Number.isInteger(index) && index >= 0 && index < count && index === sendQueueIndex(id, count);
      }),
    );
  });

  const eventId = v7();
  it.each<[string, () => string]>([
    ['retries', () => v7()],
    ['first attempts of one event', () => firstDeliveryId(eventId, v7())],
  ])('is evenly distributed for the ids of %s', (_, newId) => {
    const counts = SIX.map(() => 0);
    for (let i = 0; i < 6000; i++) counts[sendQueueIndex(newId(), CLUSTER_SEND_QUEUES)]! += 1;
    // Seven standard deviations of a uniform distribution.
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(200);
  });
});
