import type { Delivery } from '../../api/types';

const COLUMNS = [
  ...['id', 'eventId', 'event', 'subject', 'webhookId', 'url', 'trigger', 'attempt', 'status', 'responseStatus'],
  ...['errorCode', 'errorMessage', 'durationMs', 'createdAt', 'scheduledAt', 'attemptedAt', 'completedAt'],
  'nextAttemptAt',
] as const;

/** Returns the attempts as CSV (RFC 4180), with a line of names first. */
export const csvOf = (rows: readonly Delivery[]): string =>
  [COLUMNS, ...rows.map(valuesOf)].map((values) => `${values.map(cellOf).join(',')}\r\n`).join('');

function valuesOf({ error, ...row }: Delivery): unknown[] {
  const flat = { ...row, errorCode: error?.code, errorMessage: error?.message };
  return COLUMNS.map((name) => flat[name]);
}

/** A spreadsheet computes what begins like a formula: an apostrophe makes it a text. */
function cellOf(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
