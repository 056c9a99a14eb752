/** How an event ended for a webhook: the event was received, or no attempt is left. */
export interface Ending {
  webhookId: string;
  /** That was called. */
  url: string;
  /** When the request began, by PostgreSQL's clock. */
  attemptedAt: Date;
  succeeded: boolean;
}

/** The sum of several endings of one webhook at one url. */
export interface Tally {
  webhookId: string;
  url: string;
  /** True when a success cleared the failures that were counted before. */
  cleared: boolean;
  /** The failures since that success; without one, all failures. */
  failures: number;
  /** When the first request of these endings began. */
  firstAttemptedAt: Date;
}

/** Sums up endings, given in the order in which they came, for each webhook and url. The result is sorted by webhook id. */
export function tallyOf(endings: readonly Ending[]): Tally[] {
  const tallies = new Map<string, Tally>();
  for (const { webhookId, url, attemptedAt, succeeded } of endings) {
    const key = `${webhookId} ${url}`;
    const before = tallies.get(key) ?? { webhookId, url, cleared: false, failures: 0, firstAttemptedAt: attemptedAt };
    const after = succeeded ? { cleared: true, failures: 0 } : { failures: before.failures + 1 };
    const firstAttemptedAt = attemptedAt < before.firstAttemptedAt ? attemptedAt : before.firstAttemptedAt;
    tallies.set(key, { ...before, ...after, firstAttemptedAt });
  }
  return [...tallies.values()].sort((a, b) => (a.webhookId < b.webhookId ? -1 : 1));
}
