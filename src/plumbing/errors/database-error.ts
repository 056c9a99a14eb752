// Class 08: connection exceptions; 53300: too many connections; 57P: the server is going down or not up yet.
const UNAVAILABLE_STATES = /^(08|57P|53300)/;
/** read_only_sql_transaction: the server is a standby, or was told to refuse writes. */
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

/** Part of the error of every statement whose connection was closed because its server refused writes. */
export const TAKES_NO_WRITES = 'The database takes no writes.';

// Class 22, data exceptions: NUL in a text, text that is no number, numbers and times out of range.
const REFUSED_VALUE_STATES = ['22021', '22P05', '22P02', '22003', '22007', '22008'];

/** True when PostgreSQL has refused a value that validation had let through. */
export const isRefusedValue = (error: unknown): boolean =>
  REFUSED_VALUE_STATES.includes(String((error as { code?: unknown } | null)?.code));

/** True when a row refers to a row that does not exist, or not any more. */
export const isForeignKeyViolation = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === '23503';

/** True when a statement has failed because PostgreSQL takes no writes. Such an error is also `isDatabaseUnavailable`. */
export function isDatabaseReadOnly(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as { code?: unknown }).code === READ_ONLY_STATE || error.message.includes(TAKES_NO_WRITES);
}

/** True when a statement has failed because PostgreSQL is away, and not because of the statement itself. */
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
