const REPEATED_AFTER_MS = 60_000;
const MAX_TEXTS = 1000;

/**
 * Lets the same text through at most once a minute, so that an outage is not logged every second. Remembers at most 1000
 * texts.
 */
export class RepeatFilter {
  private readonly lastMs = new Map<string, number>();

  /**
   * True when the text is new, or was last let through at least a minute ago.
   * @param nowMs milliseconds on any clock that does not go back
   */
  isNews(text: string, nowMs: number): boolean {
    const last = this.lastMs.get(text);
    if (last !== undefined && nowMs - last < REPEATED_AFTER_MS) return false;
    // A text with the id of a job comes once, and would stay for ever.
    if (this.lastMs.size >= MAX_TEXTS) this.lastMs.clear();
    this.lastMs.set(text, nowMs);
    return true;
  }
}
