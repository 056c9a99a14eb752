// Class 08: connection exceptions, 53300: too many connections, 57P: the server is going down or not up yet.
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

/** Did PostgreSQL refuse a value that no validation had seen through? */
export const isRefusedValue = (error: unknown): boolean =>
  REFUSED_VALUE_STATES.includes(String((error as { code?: unknown } | null)?.code));

/** Does a row refer to another one that is not, or no longer, there? */
export const isForeignKeyViolation = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === '23503';

/** Did PostgreSQL refuse because it is away, rather than because of what it was asked? */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  return (
    UNAVAILABLE_STATES.test(code) || UNAVAILABLE_SYSTEM_CODES.includes(code) || UNAVAILABLE_MESSAGES.test(error.message)
  );
}
