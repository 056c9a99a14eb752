/** Final outcome of an event for a webhook: the event was received, or no attempt is left. */
export interface FinalOutcome {
  webhookId: string;
  /** The URL that was called; null for a pull webhook. */
  url: string | null;
  /** When the request began, by PostgreSQL's clock. */
  attemptedAt: Date;
  succeeded: boolean;
  /** True for events about webhooks: their failures count, but do not make a webhook failing. */
  isAboutWebhooks: boolean;
}

/** Sum of several final outcomes of one webhook at one URL. */
export interface Tally {
  webhookId: string;
  url: string | null;
  /** True if a success reset the failures counted before it. */
  cleared: boolean;
  /** Failures since that success; all failures if there was none. */
  failures: number;
  /** Failures before the first success; 0 if there was none. */
  failuresBefore: number;
  /** True if one of `failures` may make the webhook failing. */
  mayFail: boolean;
  /** When the first request of these outcomes began. */
  firstAttemptedAt: Date;
}

/** Sums up final outcomes, given in chronological order, by webhook and URL. The result is sorted by webhook id. */
export function tallyOf(outcomes: readonly FinalOutcome[]): Tally[] {
  const tallies = new Map<string, Tally>();
  for (const outcome of outcomes) {
    const { webhookId, url, attemptedAt } = outcome;
    const key = `${webhookId} ${url}`;
    const before = tallies.get(key) ?? { ...NONE, webhookId, url, firstAttemptedAt: attemptedAt };
    const firstAttemptedAt = attemptedAt < before.firstAttemptedAt ? attemptedAt : before.firstAttemptedAt;
    tallies.set(key, { ...before, ...added(before, outcome), firstAttemptedAt });
  }
  return [...tallies.values()].sort((a, b) => (a.webhookId < b.webhookId ? -1 : 1));
}

const NONE = { cleared: false, failures: 0, failuresBefore: 0, mayFail: false };

function added(
  { cleared, failures, failuresBefore, mayFail }: Tally,
  { succeeded, isAboutWebhooks }: FinalOutcome,
): Partial<Tally> {
  if (!succeeded) return { failures: failures + 1, mayFail: mayFail || !isAboutWebhooks };
  return { cleared: true, failures: 0, failuresBefore: cleared ? failuresBefore : failures, mayFail: false };
}
