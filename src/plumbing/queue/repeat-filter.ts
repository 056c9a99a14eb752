const REPEATED_AFTER_MS = 60_000;

/** Lets a text through when it is new, or was last let through a minute ago: an outage is told once, not every second. */
export class RepeatFilter {
  private readonly lastMs = new Map<string, number>();

  /** @param nowMs milliseconds on any clock that does not go back */
  isNews(text: string, nowMs: number): boolean {
    const last = this.lastMs.get(text);
    if (last !== undefined && nowMs - last < REPEATED_AFTER_MS) return false;
    this.lastMs.set(text, nowMs);
    return true;
  }
}
