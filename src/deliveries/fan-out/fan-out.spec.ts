import type { FanOutRepository, Subscriber } from './fan-out.repository';
import { FanOutService } from './fan-out.service';
import type { ParkingService } from '../slots/parking.service';
import type { SendQueue } from '../send.queue';

const EVENT = '0198c0de-0000-7000-8000-000000000000';
const subscribersOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ eventId: EVENT, webhookId: `w${i}` }) as Subscriber);

describe('An event with many subscribers', () => {
  it('is turned into rows a thousand at a time, each reminded of at once, and is complete with the last', async () => {
    const insert = jest.fn(async (rows: readonly { id: string }[], _complete: readonly string[]) => {
      return new Set(rows.map(({ id }) => id));
    });
    const subscribers = async function* () {
      yield { page: subscribersOf(2500), isLast: true };
    };
    const offer = jest.fn();
    const service = new FanOutService(
      { subscribers, insert } as Partial<FanOutRepository> as FanOutRepository,
      { remaining: 10_000, offer } as Partial<SendQueue> as SendQueue,
      { hasParked: () => false, note: () => undefined } as Partial<ParkingService> as ParkingService,
    );
    await service.fanOutAll([EVENT]);
    expect(insert.mock.calls.map(([rows, complete]) => [rows.length, complete])).toEqual([
      [1000, []],
      [1000, []],
      [500, [EVENT]],
    ]);
    expect(offer.mock.calls.map(([ids]: [string[]]) => ids.length)).toEqual([1000, 1000, 500]);
  });
});
