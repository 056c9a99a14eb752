/**
 * Returns the remaining time of a recovery in ms, at its own rate so far; null while that is unknown, and when nothing remains.
 */
export function timeLeftMs(sent: number, count: number, elapsedMs: number): number | null {
  if (sent <= 0 || elapsedMs <= 0 || sent >= count) return null;
  return Math.round((elapsedMs * (count - sent)) / sent);
}
