// Class 08: connection exceptions; 53100: a full disk; 53300: too many connections; 57P: the server is going down or not up yet;
// 57014: the statement took longer than `statement_timeout`; 58030: its disk failed.
const UNAVAILABLE_STATES = /^(08|53[13]00|57P|57014|58030)/;
/** read_only_sql_transaction: the server is a standby, or was configured to reject writes. */
const READ_ONLY_STATE = '25006';
const UNAVAILABLE_SYSTEM_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
];
const UNAVAILABLE_MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|client has encountered/i;

/** Part of the error of every statement whose connection was closed because its server rejected writes. */
export const TAKES_NO_WRITES = 'The database takes no writes.';

// Class 22, data exceptions: NUL in a text, a text that is not a number, numbers and times out of range.
const REFUSED_VALUE_STATES = ['22021', '22P05', '22P02', '22003', '22007', '22008'];

/** lock_not_available: the wait for a lock exceeded `lock_timeout`; deadlock_detected: PostgreSQL ended one of two that waited. */
const LOCKED_STATES = ['55P03', '40P01'];

/** True when the disk of PostgreSQL is full (53100) or fails (58030). */
export const isDiskFull = (error: unknown): boolean =>
  ['53100', '58030'].includes(String((error as { code?: unknown } | null)?.code));

/** A row that another transaction has locked for longer than the caller can wait. */
export class LockedError extends Error {
  readonly code = '55P03';
}

/** True when another transaction held a row or lock for too long. The statement may succeed when it is repeated. */
export const isLocked = (error: unknown): boolean =>
  LOCKED_STATES.includes(String((error as { code?: unknown } | null)?.code));

/** True when PostgreSQL rejected a value that had passed validation. */
export const isRefusedValue = (error: unknown): boolean =>
  REFUSED_VALUE_STATES.includes(String((error as { code?: unknown } | null)?.code));

export const isForeignKeyViolation = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === '23503';

/** True when a statement failed because PostgreSQL is read-only. Such an error is also `isDatabaseUnavailable`. */
export function isDatabaseReadOnly(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as { code?: unknown }).code === READ_ONLY_STATE || error.message.includes(TAKES_NO_WRITES);
}

/** True when a statement failed because PostgreSQL is unavailable or too slow, and not because of the statement itself. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  return (
    isDatabaseReadOnly(error) ||
    UNAVAILABLE_STATES.test(code) ||
    UNAVAILABLE_SYSTEM_CODES.includes(code) ||
    UNAVAILABLE_MESSAGES.test(error.message)
  );
}
