/** Final outcome of an event for a webhook: the event was received, or no attempt is left. */
export interface FinalOutcome {
  webhookId: string;
  /** The URL that was called. */
  url: string;
  /** When the request began, by PostgreSQL's clock. */
  attemptedAt: Date;
  succeeded: boolean;
}

/** Sum of several final outcomes of one webhook at one URL. */
export interface Tally {
  webhookId: string;
  url: string;
  /** True if a success reset the failures counted before it. */
  cleared: boolean;
  /** Failures since that success; all failures if there was none. */
  failures: number;
  /** When the first request of these outcomes began. */
  firstAttemptedAt: Date;
}

/** Sums up final outcomes, given in chronological order, by webhook and URL. The result is sorted by webhook id. */
export function tallyOf(outcomes: readonly FinalOutcome[]): Tally[] {
  const tallies = new Map<string, Tally>();
  for (const { webhookId, url, attemptedAt, succeeded } of outcomes) {
    const key = `${webhookId} ${url}`;
    const before = tallies.get(key) ?? { webhookId, url, cleared: false, failures: 0, firstAttemptedAt: attemptedAt };
    const after = succeeded ? { cleared: true, failures: 0 } : { failures: before.failures + 1 };
    const firstAttemptedAt = attemptedAt < before.firstAttemptedAt ? attemptedAt : before.firstAttemptedAt;
    tallies.set(key, { ...before, ...after, firstAttemptedAt });
  }
  return [...tallies.values()].sort((a, b) => (a.webhookId < b.webhookId ? -1 : 1));
}
