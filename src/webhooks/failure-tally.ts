/** How an event ended for a webhook: it was received, or there is no attempt left. */
export interface Ending {
  webhookId: string;
  succeeded: boolean;
}

/** What several endings come to for one webhook. */
export interface Tally {
  webhookId: string;
  /** Whether a success cleared what had been counted before. */
  cleared: boolean;
  /** Failures since then. */
  failures: number;
}

/** Sums up endings, given in the order in which they came, for each webhook. In the order of the webhooks' ids. */
export function tallyOf(endings: readonly Ending[]): Tally[] {
  const tallies = new Map<string, Tally>();
  for (const { webhookId, succeeded } of endings) {
    const before = tallies.get(webhookId) ?? { webhookId, cleared: false, failures: 0 };
    const after = succeeded ? { cleared: true, failures: 0 } : { failures: before.failures + 1 };
    tallies.set(webhookId, { ...before, ...after });
  }
  return [...tallies.values()].sort((a, b) => (a.webhookId < b.webhookId ? -1 : 1));
}
