import type { Config } from '../../infrastructure/config/config';
import type { PartitionKey } from '../rows/attempt';
import { SlotsService } from './slots.service';

const key = (userId: string, webhookId: string): PartitionKey => ({ userId, webhookId });
const BUSY = key('busy', 'b1');
const [ANN, OTHER_OF_ANN, BOB] = [key('ann', 'a1'), key('ann', 'a2'), key('bob', 'b2')];

describe('The in-memory queue for slots', () => {
  let slots: SlotsService;
  let order: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    order = [];
    slots = new SlotsService({ deliveryConcurrency: 2, webhookConcurrency: 2 } as Config);
    for (let i = 0; i < 2; i++) void slots.acquire(BUSY);
  });
  afterEach(() => {
    jest.clearAllTimers();
    jest.useRealTimers();
  });

  /** Enters the queue, and records how the wait ends. */
  function enter(name: string, of: PartitionKey): void {
    const acquired = slots.acquire(of);
    if (typeof acquired === 'boolean') order.push(`${name} at once: ${acquired}`);
    else void acquired.then((has) => order.push(has ? name : `${name} timed out`));
  }

  const passed = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('grants slots user by user and webhook by webhook, each in the order of arrival', async () => {
    enter('ann 1', ANN);
    enter('ann 2', ANN);
    enter('ann, other webhook', OTHER_OF_ANN);
    enter('bob', BOB);
    for (const key of [BUSY, ANN, BOB, OTHER_OF_ANN]) {
      slots.release(key, 'fast');
      await passed(0);
    }
    expect(order).toEqual(['ann 1', 'bob', 'ann, other webhook', 'ann 2']);
  });

  it('gives up after a second', async () => {
    enter('ann', ANN);
    await passed(900);
    expect(order).toEqual([]);
    await passed(300);
    expect(order).toEqual(['ann timed out']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not accept deliveries of a stuck webhook', async () => {
    slots.release(BUSY, null);
    enter('first', ANN);
    enter('bob', BOB);
    slots.release(ANN, 'slow');
    void slots.acquire(ANN);
    enter('second', ANN);
    expect(order).toEqual(['first at once: true', 'second at once: false']);
  });

  it('serves the next delivery after all others have left', async () => {
    for (let round = 0; round < 3; round++) {
      enter('ann', ANN);
      enter('bob', BOB);
      await passed(1200);
    }
    enter('last', ANN);
    slots.release(BUSY, 'fast');
    await passed(0);
    expect(order.at(-1)).toBe('last');
  });

  it('reports a released slot that no waiting delivery takes', async () => {
    const free = jest.fn();
    slots.whenFree(free);
    slots.release(BUSY, 'fast');
    expect(free).toHaveBeenCalledTimes(1);
  });

  it('reports no slot when a waiting delivery takes it', () => {
    const free = jest.fn();
    slots.whenFree(free);
    enter('ann', ANN);
    slots.release(BUSY, 'fast');
    expect(free).not.toHaveBeenCalled();
  });
});
