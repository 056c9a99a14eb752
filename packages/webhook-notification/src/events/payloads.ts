interface Operation {
  operationId: string;
  type: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  durationMs: number | null;
}

export interface OperationComplete extends Operation {
  result: unknown;
  /** True: the result was too large for an event. */
  resultOmitted?: true;
}

export interface OperationFailed extends Operation {
  attempts: number | null;
  error: { name: string; message: string };
}

export interface FollowerChange {
  /** The connected account. */
  accountId: string;
  follower: { id: string; username: string; displayName?: string };
  followersCount: number;
  observedAt: string;
}

export interface JobStarted {
  jobId: string;
  queue: string;
  name: string | null;
  attempt: number | null;
  startedAt: string | null;
}

export interface JobCompleted {
  jobId: string;
  queue: string;
  name: string | null;
  attempts: number | null;
  startedAt: string | null;
  completedAt: string | null;
  durationMs: number | null;
  result: unknown;
  /** True: the result was too large for an event. */
  resultOmitted?: true;
}

export interface WebhookDisabled {
  webhookId: string;
  /** The origin alone (scheme, host, port), because paths and queries often contain secrets; null for a pull webhook. */
  url: string | null;
  /** `idle`: a pull webhook from which nobody leased; it is deleted. */
  reason: 'failing' | 'gone' | 'idle';
  disabledAt: string;
}

export interface WebhookFailing {
  webhookId: string;
  /** The origin alone, as in `WebhookDisabled`. */
  url: string | null;
  /** Events in a row that ran out of retries. */
  consecutiveFailures: number;
  /** The last failed attempt; `responseStatus` is null when no response arrived. */
  lastError: { code: string | null; responseStatus: number | null };
  /** When the webhook will be disabled unless it succeeds before; null while that is not near. */
  disablesAt: string | null;
}

export interface WebhookHealthy {
  webhookId: string;
  /** The origin alone, as in `WebhookDisabled`. */
  url: string | null;
  /** The first failed attempt since the success before. */
  failingSince: string;
  /** Events in a row that ran out of retries before this success. */
  missedCount: number;
}

export interface WebhookTest {
  webhookId: string;
  message: string;
}

/**
 * The `data` of each event, by the event's name. Times are ISO 8601 in UTC; values no longer known are null. A module
 * that adds events extends this interface by declaration merging, see docs/extending.md.
 */
export interface EventPayloads {
  'operation.complete': OperationComplete;
  'operation.failed': OperationFailed;
  'follower.gained': FollowerChange;
  'follower.lost': FollowerChange;
  'job.started': JobStarted;
  'job.completed': JobCompleted;
  'webhook.disabled': WebhookDisabled;
  'webhook.failing': WebhookFailing;
  'webhook.healthy': WebhookHealthy;
}

export type EventName = keyof EventPayloads;
