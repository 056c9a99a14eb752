/** How an event ended for a webhook: the event was received, or no attempt is left. */
export interface Ending {
  webhookId: string;
  succeeded: boolean;
}

/** The sum of several endings of one webhook. */
export interface Tally {
  webhookId: string;
  /** True when a success cleared the failures that were counted before. */
  cleared: boolean;
  /** The failures since that success; without one, all failures. */
  failures: number;
}

/** Sums up endings, given in the order in which they came, for each webhook. The result is sorted by webhook id. */
export function tallyOf(endings: readonly Ending[]): Tally[] {
  const tallies = new Map<string, Tally>();
  for (const { webhookId, succeeded } of endings) {
    const before = tallies.get(webhookId) ?? { webhookId, cleared: false, failures: 0 };
    const after = succeeded ? { cleared: true, failures: 0 } : { failures: before.failures + 1 };
    tallies.set(webhookId, { ...before, ...after });
  }
  return [...tallies.values()].sort((a, b) => (a.webhookId < b.webhookId ? -1 : 1));
}
