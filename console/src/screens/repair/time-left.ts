/**
 * Returns the remaining time of a recovery in ms, at its own rate so far; null while that is unknown, and when nothing remains.
 * @param count number of events of the recovery; null until it is known
 */
export function timeLeftMs(sent: number, count: number | null, elapsedMs: number): number | null {
  if (count === null || sent <= 0 || elapsedMs <= 0 || sent >= count) return null;
  return Math.round((elapsedMs * (count - sent)) / sent);
}
