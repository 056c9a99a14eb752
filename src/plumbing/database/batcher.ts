import { isDatabaseUnavailable } from '../errors/database-error';

interface Waiting<In, Out> {
  item: In;
  resolve: (result: Out) => void;
  reject: (error: unknown) => void;
}

/** Begins with a batch; what it hands back resolves when the next may begin, and is told how many items wait for it. */
export type Gathering = () => (waiting: () => number) => Promise<void>;

/**
 * Group commit: an item that arrives while nothing runs is handed on at once, alone; what arrives meanwhile forms the next
 * batch of at most `maxItems`. A batch that fails is repeated item by item, so that one bad item fails alone; while
 * PostgreSQL is away all of them fail at once.
 * @param run gets 1..maxItems items and answers one result for each, in order
 * @param gathering lets more arrive after a batch of several; without it the next begins at once
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

  add(item: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.running < this.parallel) void this.drain();
    });
  }

  private async drain(): Promise<void> {
    this.running += 1;
    // What is added in the same tick belongs together.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const gathered = this.gathering?.();
      const batch = this.waiting.splice(0, this.maxItems);
      await this.settle(batch);
      if (batch.length > 1) await gathered?.(() => this.waiting.length);
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
