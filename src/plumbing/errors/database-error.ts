// Class 08: connection exceptions; 53300: too many connections; 57P: the server is going down or not up yet; 25006: the
// server is read-only.
const UNAVAILABLE_STATES = /^(08|57P|53300|25006)/;
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

// Class 22, data exceptions: NUL in a text, text that is no number, numbers and times out of range.
const REFUSED_VALUE_STATES = ['22021', '22P05', '22P02', '22003', '22007', '22008'];

/** True when PostgreSQL has refused a value that validation had let through. */
export const isRefusedValue = (error: unknown): boolean =>
  REFUSED_VALUE_STATES.includes(String((error as { code?: unknown } | null)?.code));

/** True when a row refers to a row that does not exist, or not any more. */
export const isForeignKeyViolation = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === '23503';

/** True when a statement has failed because PostgreSQL is away, and not because of the statement itself. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  return (
    UNAVAILABLE_STATES.test(code) || UNAVAILABLE_SYSTEM_CODES.includes(code) || UNAVAILABLE_MESSAGES.test(error.message)
  );
}
