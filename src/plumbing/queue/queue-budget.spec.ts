import { QueueBudget } from './queue-budget';

describe('The room on a queue', () => {
  function queue(max: number) {
    const state = { jobs: 0, now: 0, away: false, counts: 0 };
    const room = new QueueBudget(
      max,
      async () => {
        state.counts += 1;
        if (state.away) throw new Error('away');
        return state.jobs;
      },
      () => state.now,
    );
    return { state, room };
  }
  /** What was begun in the background has ended. */
  const settled = () => new Promise(setImmediate);

  it('shrinks with what is added, before it is counted again', () => {
    const { room } = queue(10);
    expect(room.remaining()).toBe(10);
    room.add(7);
    expect(room.remaining()).toBe(3);
    room.add(7);
    expect(room.remaining()).toBe(0);
  });

  it('is counted in the background, every half second at most', async () => {
    const { state, room } = queue(10);
    state.jobs = 4;
    expect(room.remaining()).toBe(10);
    await settled();
    expect(room.remaining()).toBe(6);
    state.jobs = 2;
    state.now = 499;
    room.remaining();
    await settled();
    expect(room.remaining()).toBe(6);
    state.now = 500;
    room.remaining();
    await settled();
    expect(room.remaining()).toBe(8);
    expect(state.counts).toBe(2);
  });

  it('is counted every ten seconds while it is empty and nothing is added', async () => {
    const { state, room } = queue(10);
    room.remaining();
    await settled();
    state.now = 9999;
    room.remaining();
    await settled();
    expect(state.counts).toBe(1);
    room.add(1);
    room.remaining();
    await settled();
    expect(state.counts).toBe(2);
    state.now = 19_999;
    room.remaining();
    await settled();
    expect(state.counts).toBe(3);
  });

  it('counts what was added while it was being counted on top', async () => {
    const { state, room } = queue(10);
    state.jobs = 1;
    room.add(1);
    room.remaining();
    room.add(5);
    await settled();
    expect(room.remaining()).toBe(4);
  });

  it('keeps the last count while the queue is away', async () => {
    const { state, room } = queue(10);
    state.jobs = 4;
    room.remaining();
    await settled();
    state.away = true;
    state.now = 500;
    room.remaining();
    await settled();
    expect(room.remaining()).toBe(6);
  });
});
