import type { SealedHeaders } from '../../webhooks/headers/header-rules';
import { fieldsOf, READ_BY_ATTEMPTS, type ReadByAttempts } from '../../webhooks/webhook-fields';
import type { Webhook } from '../../webhooks/webhook.entity';

/** The webhook of an attempt, as last read. */
export interface DueWebhook extends Pick<Webhook, Exclude<ReadByAttempts, 'url' | 'headers'>> {
  url: string;
  /** Headers of its owner, sealed for the origin of `url`; null: none. */
  headers: SealedHeaders | null;
  sealedSecret: Buffer;
  /** The previous secret while a rotation overlaps, by PostgreSQL's clock; otherwise null. */
  sealedPreviousSecret: Buffer | null;
}

const columnOf = (name: string): string => `w.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;

const COLUMNS: Record<keyof DueWebhook, string> = {
  ...(Object.fromEntries(READ_BY_ATTEMPTS.map((name) => [name, columnOf(name)])) as Record<keyof DueWebhook, string>),
  headers: `nullif(w.headers, '{}')`,
  sealedSecret: 'w.secret',
  sealedPreviousSecret: 'case when w.previous_secret_expires_at > now() then w.previous_secret end',
};
const NAMES = Object.keys(COLUMNS) as (keyof DueWebhook)[];

/** The columns of a `DueWebhook`, of webhooks `w`. One statement reads them all, so that they belong together. */
export const DUE_WEBHOOK_COLUMNS = NAMES.map((name) => `${COLUMNS[name]} as "${name}"`).join(', ');

/** The columns as they are read: a webhook whose events a consumer leases has no url. */
export type DueWebhookColumns = Omit<DueWebhook, 'url'> & { url: string | null };

/** Returns the webhook of a row that has these columns among others. */
export const dueWebhookOf = (row: DueWebhook): DueWebhook => fieldsOf(row, NAMES);
