import { isDatabaseUnavailable } from '../errors/database-error';

interface Waiting<In, Out> {
  item: In;
  resolve: (result: Out) => void;
  reject: (error: unknown) => void;
}

/** Called when a batch begins. What it returns is awaited before the next batch; it is told the size of the batch, and can ask how many items wait. */
export type Gathering = () => (size: number, waiting: () => number) => Promise<void>;

/**
 * Group commit. An item that arrives while fewer than `parallel` batches run is run at once. Items that arrive later
 * form the next batch, of at most `maxItems`. A batch that fails is repeated item by item, so that one bad item fails
 * alone; while PostgreSQL is away, all of its items fail at once.
 * @param run gets 1..maxItems items and returns one result for each, in the same order
 * @param parallel how many batches may run at once
 * @param gathering lets more items arrive before the next batch; without it the next batch begins at once
 */
export class Batcher<In, Out> {
  private waiting: Waiting<In, Out>[] = [];
  private running = 0;

  constructor(
    private readonly run: (items: In[]) => Promise<Out[]>,
    private readonly maxItems: number,
    private readonly parallel = 1,
    private readonly gathering: Gathering | null = null,
  ) {}

  /** Resolves with the result of this item when its batch has run; rejects with the error of `run`. */
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
      const gathered = this.gathering?.();
      const batch = this.waiting.splice(0, this.maxItems);
      await this.settle(batch);
      await gathered?.(batch.length, () => this.waiting.length);
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
