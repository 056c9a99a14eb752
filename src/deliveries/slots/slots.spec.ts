import type { Config } from '../../plumbing/config/config';
import type { Lane } from '../lane';
import { SlotsService } from './slots.service';

const lane = (userId: string, webhookId: string): Lane => ({ userId, webhookId });
const BUSY = lane('busy', 'b1');
const [ANN, OTHER_OF_ANN, BOB] = [lane('ann', 'a1'), lane('ann', 'a2'), lane('bob', 'b2')];

describe('The line for a slot', () => {
  let slots: SlotsService;
  let order: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    order = [];
    slots = new SlotsService({ deliveryConcurrency: 2, webhookConcurrency: 2 } as Config);
    for (let i = 0; i < 2; i++) slots.acquireAnyway(BUSY);
  });
  afterEach(() => {
    jest.clearAllTimers();
    jest.useRealTimers();
  });

  /** Enters the line, and writes down how the wait ended. */
  function enter(name: string, of: Lane): void {
    const acquired = slots.acquire(of);
    if (typeof acquired === 'boolean') order.push(`${name} at once: ${acquired}`);
    else void acquired.then((has) => order.push(has ? name : `${name} in vain`));
  }

  const passed = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('gives slots user by user and webhook by webhook, each in the order of coming', async () => {
    enter('ann 1', ANN);
    enter('ann 2', ANN);
    enter('ann, other webhook', OTHER_OF_ANN);
    enter('bob', BOB);
    for (const of of [BUSY, ANN, BOB, OTHER_OF_ANN]) {
      slots.release(of, 'fast');
      await passed(0);
    }
    expect(order).toEqual(['ann 1', 'bob', 'ann, other webhook', 'ann 2']);
  });

  it('is left after a second in vain', async () => {
    enter('ann', ANN);
    await passed(900);
    expect(order).toEqual([]);
    await passed(300);
    expect(order).toEqual(['ann in vain']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is left by the deliveries of a webhook that is stuck, and entered by no others of it', async () => {
    slots.release(BUSY, null);
    enter('first', ANN);
    enter('bob', BOB);
    slots.release(ANN, 'slow');
    slots.acquireAnyway(ANN);
    enter('second', ANN);
    expect(order).toEqual(['first at once: true', 'second at once: false']);
  });

  it('is empty for its next delivery when all have left it', async () => {
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

  it('tells of a free slot that nobody in the line takes', async () => {
    const free = jest.fn();
    slots.whenFree(free);
    slots.release(BUSY, 'fast');
    expect(free).toHaveBeenCalledTimes(1);
  });

  it('tells of none when the line takes it', () => {
    const free = jest.fn();
    slots.whenFree(free);
    enter('ann', ANN);
    slots.release(BUSY, 'fast');
    expect(free).not.toHaveBeenCalled();
  });
});
