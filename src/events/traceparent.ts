/** The defined bits of the flags: sampled (level 1) and random trace id (level 2). All others are set to 0. */
const KNOWN_FLAGS = 0b11;
const GRAMMAR = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Parses a `traceparent` header by W3C Trace Context, section 3.2, and returns it as version 00. Returns null when it is missing
 * or invalid, because the specification requires ignoring it then. A later version may have more fields.
 */
export function parseTraceparent(header: string | undefined): string | null {
  const [, version = 'ff', traceId = '', parentId = '', flags = '', more] = GRAMMAR.exec(header ?? '') ?? [];
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return null;
  return `00-${traceId}-${parentId}-${(parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, '0')}`;
}

/**
 * Returns the `traceparent` of a request that this service makes in the same trace.
 * @param parentId 16 lowercase hex digits, not all of them 0
 */
export function childTraceparent(traceparent: string, parentId: string): string {
  return `${traceparent.slice(0, 36)}${parentId}${traceparent.slice(-3)}`;
}

/** Returns the trace id of a `traceparent` that `parseTraceparent` has returned; null for null. */
export function traceIdOf(traceparent: string | null): string | null {
  return traceparent?.slice(3, 35) ?? null;
}
