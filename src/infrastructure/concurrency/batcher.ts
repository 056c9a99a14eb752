import { isDatabaseUnavailable } from '../errors/database-error';

interface Waiting<In, Out> {
  item: In;
  resolve: (result: Out) => void;
  reject: (error: unknown) => void;
}

/** Called when a batch begins, with its size and a count of waiting items. The next batch waits for its promise. */
export type Linger = () => (size: number, waiting: () => number) => Promise<void>;

/**
 * Group commit. An item that arrives while fewer than `parallel` batches run starts at once. Later items form the next
 * batch, of at most `maxItems`. The items of a failed batch are retried one by one, so that only a bad item fails;
 * while PostgreSQL is unavailable, all of them fail at once.
 * @param run receives 1 to `maxItems` items and returns one result for each, in the same order
 * @param parallel maximum number of concurrent batches
 * @param linger lets more items arrive before the next batch; without it the next batch starts at once
 */
export class Batcher<In, Out> {
  private waiting: Waiting<In, Out>[] = [];
  private running = 0;

  constructor(
    private readonly run: (items: In[]) => Promise<Out[]>,
    private readonly maxItems: number,
    private readonly parallel = 1,
    private readonly linger: Linger | null = null,
  ) {}

  /** Resolves with the result of the item when its batch has run; rejects with the error of `run`. */
  add(item: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.running < this.parallel) void this.drain();
    });
  }

  private async drain(): Promise<void> {
    this.running += 1;
    // Items that are added in the same tick belong to one batch.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const lingered = this.linger?.();
      const batch = this.waiting.splice(0, this.maxItems);
      await this.settle(batch);
      await lingered?.(batch.length, () => this.waiting.length);
    }
    this.running -= 1;
  }

  private async settle(batch: Waiting<In, Out>[]): Promise<void> {
    try {
      const results = await this.run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, i) => resolve(results[i] as Out));
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else if (isDatabaseUnavailable(error)) batch.forEach(({ reject }) => reject(error));
      else for (const single of batch) await this.settle([single]);
    }
  }
}

/**
 * Lets concurrent calls share a statement. Returns a function that resolves with what the statement found under the id of an item;
 * null for nothing. It rejects as `Batcher` does.
 * @param run runs the statement on 1 to `maxItems` items, and returns what it found by id
 */
export function sharedStatement<Item, Found>(
  idOf: (item: Item) => string,
  run: (items: Item[]) => Promise<(readonly [id: string, found: Found])[]>,
  { maxItems = 200, parallel = 1 } = {},
): (item: Item) => Promise<Found | null> {
  const batcher = new Batcher<Item, Found | null>(
    async (items) => {
      const found = new Map(await run(items));
      return items.map((item) => found.get(idOf(item)) ?? null);
    },
    maxItems,
    parallel,
  );
  return (item) => batcher.add(item);
}
