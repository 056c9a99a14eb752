import { Repeat } from './repeat.timer';

describe('A repeated task', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const onFailure = jest.fn();
  beforeEach(() => onFailure.mockReset());

  it('runs at once, and again after the interval', async () => {
    const task = jest.fn(async () => undefined);
    const repeat = new Repeat(task, { everyMs: 1000, onFailure });
    repeat.start();
    await jest.advanceTimersByTimeAsync(2999);
    expect(task).toHaveBeenCalledTimes(3);
    await repeat.stop();
    await jest.advanceTimersByTimeAsync(5000);
    expect(task).toHaveBeenCalledTimes(3);
  });

  it('uses another interval when the task returns one', async () => {
    const task = jest.fn(async () => 5000);
    const repeat = new Repeat(task, { everyMs: 1000, onFailure });
    repeat.start();
    await jest.advanceTimersByTimeAsync(4999);
    expect(task).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(task).toHaveBeenCalledTimes(2);
    await repeat.stop();
  });

  it('runs at the same moment as other tasks, whenever they were started', async () => {
    const begunAt: number[] = [];
    const task = async () => void begunAt.push(performance.now());
    const repeats = Array.from({ length: 3 }, () => new Repeat(task, { everyMs: 2000, onFailure }));
    for (const repeat of repeats) {
      repeat.start();
      await jest.advanceTimersByTimeAsync(150);
    }
    expect(new Set(begunAt.splice(0)).size).toBe(3);
    await jest.advanceTimersByTimeAsync(4000);
    for (const repeat of repeats) await repeat.stop();
    expect(begunAt).toHaveLength(6);
    expect(new Set(begunAt).size).toBe(2);
  });

  it('continues after a failure, and reports whether the previous run failed too', async () => {
    const results = [new Error('first'), new Error('second'), null, new Error('third')];
    const repeat = new Repeat(
      async () => {
        const next = results.shift();
        if (next) throw next;
      },
      { everyMs: 1000, onFailure },
    );
    repeat.start();
    await jest.advanceTimersByTimeAsync(3500);
    await repeat.stop();
    expect(onFailure.mock.calls.map(([error, isRepeated]) => [(error as Error).message, isRepeated])).toEqual([
      ['first', false],
      ['second', true],
      ['third', false],
    ]);
  });

  it('is stopped when the current run has ended', async () => {
    let end: () => void = () => undefined;
    const task = jest.fn(() => new Promise<void>((resolve) => (end = resolve)));
    const repeat = new Repeat(task, { everyMs: 1000, onFailure });
    repeat.start();
    const stopped = jest.fn();
    const stopping = repeat.stop().then(stopped);
    await jest.advanceTimersByTimeAsync(1000);
    expect(stopped).not.toHaveBeenCalled();
    end();
    await stopping;
    await jest.advanceTimersByTimeAsync(5000);
    expect(task).toHaveBeenCalledTimes(1);
  });
});
