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

/** Did PostgreSQL refuse because it is away, rather than because of what it was asked? */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  return (
    UNAVAILABLE_STATES.test(code) || UNAVAILABLE_SYSTEM_CODES.includes(code) || UNAVAILABLE_MESSAGES.test(error.message)
  );
}
