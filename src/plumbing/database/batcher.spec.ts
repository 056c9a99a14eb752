import fc from 'fast-check';
import { Batcher, type Gathering } from './batcher';
import { gatherFor } from './gathering.timer';

/** Long enough for everything that only waits for promises. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A store that writes its batches down and ends each run when the test says so. */
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

function started(parallel = 1, gathering: Gathering | null = null) {
  const store = new Store();
  const batcher = new Batcher(store.run, 3, parallel, gathering);
  const add = (...items: string[]) => Promise.allSettled(items.map((item) => batcher.add(item)));
  return { store, batcher, add };
}

const fulfilled = (value: string) => ({ status: 'fulfilled', value });
const rejected = (message: string) => ({ status: 'rejected', reason: new Error(message) });

describe('A batcher', () => {
  it('hands a lone item on at once', async () => {
    const { store, batcher } = started();
    const result = batcher.add('a');
    await Promise.resolve();
    expect(store.batches).toEqual([['a']]);
    await store.endAll();
    await expect(result).resolves.toBe('A');
  });

  it('hands on together what is added in the same tick', async () => {
    const { store, add } = started();
    const results = add('a', 'b');
    await settled();
    expect(store.batches).toEqual([['a', 'b']]);
    await store.endAll();
    expect(await results).toEqual([fulfilled('A'), fulfilled('B')]);
  });

  it('makes one batch of what arrives during a run', async () => {
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

  it('never hands on more than the maximum', async () => {
    const { store, add } = started();
    const results = add('a', 'b', 'c', 'd', 'e', 'f', 'g');
    await settled();
    await store.endAll();
    expect(store.batches).toEqual([['a', 'b', 'c'], ['d', 'e', 'f'], ['g']]);
    expect(await results).toEqual([...'ABCDEFG'].map(fulfilled));
  });

  it('repeats a batch that fails one by one, so that only the bad item fails', async () => {
    const { store, add } = started();
    const results = add('a', 'bad', 'c');
    await settled();
    await store.endAll();
    expect(store.batches).toEqual([['a', 'bad', 'c'], ['a'], ['bad'], ['c']]);
    expect(await results).toEqual([fulfilled('A'), rejected('refused bad'), fulfilled('C')]);
  });

  it('does not repeat a lone item that fails', async () => {
    const { store, add } = started();
    const results = add('bad');
    await settled();
    await store.endAll();
    expect(store.batches).toEqual([['bad']]);
    expect(await results).toEqual([rejected('refused bad')]);
  });

  it('goes on after a failure with what arrived meanwhile, and once idle starts at once again', async () => {
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

  it('takes an exception for a failure', async () => {
    const batcher = new Batcher<string, string>(() => {
      throw new Error('not even a promise');
    }, 3);
    const results = await Promise.allSettled([batcher.add('a'), batcher.add('b')]);
    expect(results).toEqual([rejected('not even a promise'), rejected('not even a promise')]);
  });

  it('runs as many batches at a time as it was told', async () => {
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

  it('gives every item its own result, whatever arrives when and whatever is bad', async () => {
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

describe('A batcher that gathers', () => {
  const patient = gatherFor({ unlessAbove: 1, quietMs: 1000, withinMs: 2000, enough: 3 });

  it('does not wait after an item that was alone', async () => {
    const { store, add } = started(1, patient);
    for (const item of ['a', 'b', 'c']) {
      void add(item);
      await settled();
      await store.endNext();
    }
    expect(store.batches).toEqual([['a'], ['b'], ['c']]);
  });

  it('waits for more after a batch of several', async () => {
    const { store, add } = started(1, patient);
    void add('a', 'b');
    await settled();
    await store.endNext();
    void add('c');
    await settled();
    expect(store.batches).toEqual([['a', 'b']]);
  });

  it('waits until nothing more arrives', async () => {
    const { store, add } = started(1, gatherFor({ unlessAbove: 1, quietMs: 1, withinMs: 1000, enough: 3 }));
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

  it('does not wait when enough are there', async () => {
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
