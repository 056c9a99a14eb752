import { QueueCapacity } from './queue-capacity';

describe('The capacity of a queue', () => {
  function queue(max: number) {
    const state = { jobs: 0, now: 0, away: false, counts: 0 };
    const capacity = new QueueCapacity(
      max,
      async () => {
        state.counts += 1;
        if (state.away) throw new Error('away');
        return state.jobs;
      },
      () => state.now,
    );
    return { state, capacity };
  }
  /** Lets background work finish. */
  const settled = () => new Promise(setImmediate);

  it('shrinks with every added job, before the next count', () => {
    const { capacity } = queue(10);
    expect(capacity.remaining()).toBe(10);
    capacity.add(7);
    expect(capacity.remaining()).toBe(3);
    capacity.add(7);
    expect(capacity.remaining()).toBe(0);
  });

  it('is counted in the background, at most every half second', async () => {
    const { state, capacity } = queue(10);
    state.jobs = 4;
    expect(capacity.remaining()).toBe(10);
    await settled();
    expect(capacity.remaining()).toBe(6);
    state.jobs = 2;
    state.now = 499;
    capacity.remaining();
    await settled();
    expect(capacity.remaining()).toBe(6);
    state.now = 500;
    capacity.remaining();
    await settled();
    expect(capacity.remaining()).toBe(8);
    expect(state.counts).toBe(2);
  });

  it('is counted every ten seconds while the queue is empty and nothing is added', async () => {
    const { state, capacity } = queue(10);
    capacity.remaining();
    await settled();
    state.now = 9999;
    capacity.remaining();
    await settled();
    expect(state.counts).toBe(1);
    capacity.add(1);
    capacity.remaining();
    await settled();
    expect(state.counts).toBe(2);
    state.now = 19_999;
    capacity.remaining();
    await settled();
    expect(state.counts).toBe(3);
  });

  it('subtracts jobs that were added during a count from its result', async () => {
    const { state, capacity } = queue(10);
    state.jobs = 1;
    capacity.add(1);
    capacity.remaining();
    capacity.add(5);
    await settled();
    expect(capacity.remaining()).toBe(4);
  });

  it('keeps the last count while the queue is unavailable', async () => {
    const { state, capacity } = queue(10);
    state.jobs = 4;
    capacity.remaining();
    await settled();
    state.away = true;
    state.now = 500;
    capacity.remaining();
    await settled();
    expect(capacity.remaining()).toBe(6);
  });
});
