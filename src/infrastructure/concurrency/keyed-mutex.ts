/** Limits the number of concurrent holders per key; further callers wait in arrival order. */
export class KeyedMutex {
  private readonly keys = new Map<string, { held: number; waiting: (() => void)[] }>();

  /** @param most maximum concurrent holders of one key, at least 1 */
  constructor(private readonly most: number) {}

  /** Acquires a slot. The returned function releases it; calling it again does nothing. */
  async acquire(key: string): Promise<() => void> {
    const state = this.keys.get(key) ?? { held: 0, waiting: [] };
    this.keys.set(key, state);
    if (state.held < this.most) state.held += 1;
    else await new Promise<void>((resolve) => state.waiting.push(resolve));
    let ended = false;
    return () => {
      if (!ended) this.end(key, state);
      ended = true;
    };
  }

  private end(key: string, state: { held: number; waiting: (() => void)[] }): void {
    const next = state.waiting.shift();
    if (next) return next();
    state.held -= 1;
    if (state.held === 0) this.keys.delete(key);
  }
}
