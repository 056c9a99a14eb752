import type { SealedHeaders } from '../webhooks/headers/header-rules';
import type { EventFormat } from '../webhooks/formats/event-format';

/** The webhook of an attempt, as last read. */
export interface DueWebhook {
  url: string;
  active: boolean;
  sealedSecret: Buffer;
  /** The previous secret while a rotation overlaps, by PostgreSQL's clock; otherwise null. */
  sealedPreviousSecret: Buffer | null;
  format: EventFormat;
  /** Headers of its owner, sealed for the origin of `url`; null: none. */
  headers: SealedHeaders | null;
  /** Its own deadline of an attempt; null: that of the service. The shorter one holds. */
  timeoutMs: number | null;
  /** Its own delay before each retry; null: the plan of the service. */
  retryDelaysMs: number[] | null;
  /** Attempts a second, of all processes; null: no limit. */
  maxPerSecond: number | null;
}

/** The columns of a `DueWebhook`, of webhooks `w`. One statement reads them all, so that they belong together. */
export const DUE_WEBHOOK_COLUMNS = `
  w.url, w.active, w.secret as "sealedSecret",
  case when w.previous_secret_expires_at > now() then w.previous_secret end as "sealedPreviousSecret",
  w.format, nullif(w.headers, '{}') as headers, w.timeout_ms as "timeoutMs", w.retry_delays_ms as "retryDelaysMs",
  w.max_per_second as "maxPerSecond"`;

/** The columns as they are read: a webhook whose events a consumer leases has no url. */
export type DueWebhookColumns = Omit<DueWebhook, 'url'> & { url: string | null };

/** Returns the webhook of a row that has these columns among others. */
export function dueWebhookOf(row: DueWebhook): DueWebhook {
  const { url, active, sealedSecret, sealedPreviousSecret, format, headers } = row;
  const { timeoutMs, retryDelaysMs, maxPerSecond } = row;
  return { url, active, sealedSecret, sealedPreviousSecret, format, headers, timeoutMs, retryDelaysMs, maxPerSecond };
}
