import fc from 'fast-check';
import { Batcher, type Linger, sharedStatement } from './batcher';
import { lingerFor } from './pauses.timer';

/** Lets all pending promise callbacks run. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A store that records its batches and ends each run when the test tells it to. */
class Store {
  readonly batches: string[][] = [];
  private readonly ends: (() => void)[] = [];

  readonly run = (items: string[]): Promise<string[]> => {
    this.batches.push(items);
    return new Promise((resolve, reject) => {
      this.ends.push(() => {
        const bad = items.find((item) => item.startsWith('bad'));
        if (bad) reject(new Error(`refused ${items.join()}`));
        else resolve(items.map((item) => item.toUpperCase()));
      });
    });
  };

  async endNext(): Promise<void> {
    this.ends.shift()?.();
    await settled();
  }

  async endAll(): Promise<void> {
    while (this.ends.length > 0) await this.endNext();
  }
}

function started(parallel = 1, linger: Linger | null = null) {
  const store = new Store();
  const batcher = new Batcher(store.run, 3, parallel, linger);
  const add = (...items: string[]) => Promise.allSettled(items.map((item) => batcher.add(item)));
  return { store, batcher, add };
}

const fulfilled = (value: string) => ({ status: 'fulfilled', value });
const rejected = (message: string) => ({ status: 'rejected', reason: new Error(message) });

describe('A batcher', () => {
  it('runs a single item at once', async () => {
    const { store, batcher } = started();
    const result = batcher.add('a');
    await Promise.resolve();
    expect(store.batches).toEqual([['a']]);
    await store.endAll();
    await expect(result).resolves.toBe('A');
  });

  it('batches items that are added in the same tick', async () => {
    const { store, add } = started();
    const results = add('a', 'b');
    await settled();
    expect(store.batches).toEqual([['a', 'b']]);
    await store.endAll();
    expect(await results).toEqual([fulfilled('A'), fulfilled('B')]);
  });

  it('batches items that arrive during a run', async () => {
    const { store, add } = started();
    const results = [add('a')];
    await settled();
    for (const item of ['b', 'c']) {
      results.push(add(item));
      await settled();
    }
    expect(store.batches).toEqual([['a']]);
    await store.endNext();
    expect(store.batches).toEqual([['a'], ['b', 'c']]);
    await store.endAll();
    expect((await Promise.all(results)).flat()).toEqual(['A', 'B', 'C'].map(fulfilled));
  });

  it('never exceeds the maximum batch size', async () => {
    const { store, add } = started();
    const results = add('a', 'b', 'c', 'd', 'e', 'f', 'g');
    await settled();
    await store.endAll();
    expect(store.batches).toEqual([['a', 'b', 'c'], ['d', 'e', 'f'], ['g']]);
    expect(await results).toEqual([...'ABCDEFG'].map(fulfilled));
  });

  it('retries the items of a failed batch one by one, so that only the bad item fails', async () => {
    const { store, add } = started();
    const results = add('a', 'bad', 'c');
    await settled();
    await store.endAll();
    expect(store.batches).toEqual([['a', 'bad', 'c'], ['a'], ['bad'], ['c']]);
    expect(await results).toEqual([fulfilled('A'), rejected('refused bad'), fulfilled('C')]);
  });

  it('does not retry a single item that fails', async () => {
    const { store, add } = started();
    const results = add('bad');
    await settled();
    await store.endAll();
    expect(store.batches).toEqual([['bad']]);
    expect(await results).toEqual([rejected('refused bad')]);
  });

  it('continues after a failure with the items that arrived meanwhile, and starts at once when idle again', async () => {
    const { store, add } = started();
    const first = add('bad');
    await settled();
    const second = add('b');
    await store.endAll();
    const third = add('c');
    await settled();
    expect(store.batches).toEqual([['bad'], ['b'], ['c']]);
    await store.endAll();
    expect((await Promise.all([first, second, third])).flat()).toEqual([
      rejected('refused bad'),
      fulfilled('B'),
      fulfilled('C'),
    ]);
  });

  it('treats an exception as a failure', async () => {
    const batcher = new Batcher<string, string>(() => {
      throw new Error('not even a promise');
    }, 3);
    const results = await Promise.allSettled([batcher.add('a'), batcher.add('b')]);
    expect(results).toEqual([rejected('not even a promise'), rejected('not even a promise')]);
  });

  it('runs as many batches concurrently as configured', async () => {
    const { store, add } = started(2);
    const results = [];
    for (const item of ['a', 'b', 'c', 'd']) {
      results.push(add(item));
      await settled();
    }
    expect(store.batches).toEqual([['a'], ['b']]);
    await store.endNext();
    expect(store.batches).toEqual([['a'], ['b'], ['c', 'd']]);
    await store.endAll();
    expect((await Promise.all(results)).flat()).toEqual([...'ABCD'].map(fulfilled));
  });

  it('returns its own result for every item, in any order of arrival and with any bad items', async () => {
    const items = fc.array(fc.record({ bad: fc.boolean(), waits: fc.boolean() }), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(
        items,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        async (all, max, many) => {
          let [running, most, largest] = [0, 0, 0];
          const run = async (batch: number[]): Promise<number[]> => {
            most = Math.max(most, ++running);
            largest = Math.max(largest, batch.length);
            await settled();
            running -= 1;
            if (batch.some((i) => all[i]?.bad)) throw new Error(batch.join());
            return batch.map((i) => i * 10);
          };
          const batcher = new Batcher(run, max, many);
          const results: Promise<number>[] = [];
          for (const [i, { waits }] of all.entries()) {
            results.push(batcher.add(i));
            if (waits) await settled();
          }
          expect(await Promise.allSettled(results)).toEqual(
            all.map(({ bad }, i) => (bad ? rejected(String(i)) : { status: 'fulfilled', value: i * 10 })),
          );
          expect(most).toBeLessThanOrEqual(many);
          expect(largest).toBeLessThanOrEqual(max);
        },
      ),
    );
  });
});

describe('A batcher that lingers', () => {
  const patient = lingerFor({ unlessAbove: 1, quietMs: 1000, withinMs: 2000, enough: 3 });

  it('does not wait after a batch of one item', async () => {
    const { store, add } = started(1, patient);
    for (const item of ['a', 'b', 'c']) {
      void add(item);
      await settled();
      await store.endNext();
    }
    expect(store.batches).toEqual([['a'], ['b'], ['c']]);
  });

  it('waits for more items after a batch of several', async () => {
    const { store, add } = started(1, patient);
    void add('a', 'b');
    await settled();
    await store.endNext();
    void add('c');
    await settled();
    expect(store.batches).toEqual([['a', 'b']]);
  });

  it('waits until no more items arrive', async () => {
    const { store, add } = started(1, lingerFor({ unlessAbove: 1, quietMs: 1, withinMs: 1000, enough: 3 }));
    void add('a', 'b');
    await settled();
    await store.endNext();
    void add('c');
    void add('d');
    while (store.batches.length < 2) await settled();
    expect(store.batches).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('does not wait when enough items are waiting', async () => {
    const { store, add } = started(1, patient);
    void add('a', 'b', 'c', 'd', 'e', 'f');
    await settled();
    await store.endNext();
    expect(store.batches).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ]);
  });
});

it('A shared statement runs once for concurrent calls, and gives each what it found under its id', async () => {
  const runs: { id: string }[][] = [];
  const find = sharedStatement(
    ({ id }: { id: string }) => id,
    async (items) => {
      runs.push(items);
      return [
        ['b', 2],
        ['a', 1],
      ] as const satisfies (readonly [string, number])[];
    },
    { maxItems: 3 },
  );
  expect(await Promise.all(['a', 'b', 'c', 'a'].map((id) => find({ id })))).toEqual([1, 2, null, 1]);
  expect(runs.map((items) => items.map(({ id }) => id))).toEqual([['a', 'b', 'c'], ['a']]);
});
