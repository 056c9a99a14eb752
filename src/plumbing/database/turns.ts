/** Lets at most so many go on at once for each key; the others wait, in the order in which they came. */
export class Turns {
  private readonly keys = new Map<string, { held: number; waiting: (() => void)[] }>();

  /** @param most turns of one key at once, at least 1 */
  constructor(private readonly most: number) {}

  /** Waits for a turn. The caller ends it with the function that it gets; calling that again does nothing. */
  async take(key: string): Promise<() => void> {
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

  /** The turn goes to the next one who waits. */
  private end(key: string, state: { held: number; waiting: (() => void)[] }): void {
    const next = state.waiting.shift();
    if (next) return next();
    state.held -= 1;
    if (state.held === 0) this.keys.delete(key);
  }
}
