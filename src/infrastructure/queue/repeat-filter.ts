import { MINUTE_MS } from '../config/durations';

const REPEATED_AFTER_MS = MINUTE_MS;
const MAX_TEXTS = 1000;

/** Passes the same text at most once a minute, so that an outage is not logged every second. Keeps at most 1000 texts. */
export class RepeatFilter {
  private readonly lastMs = new Map<string, number>();

  /** Returns true when the text is new, or last passed at least a minute ago by any monotonic clock. */
  isNews(text: string, nowMs: number): boolean {
    const last = this.lastMs.get(text);
    if (last !== undefined && nowMs - last < REPEATED_AFTER_MS) return false;
    // A text with a job id occurs only once, and would stay forever.
    if (this.lastMs.size >= MAX_TEXTS) this.lastMs.clear();
    this.lastMs.set(text, nowMs);
    return true;
  }
}
