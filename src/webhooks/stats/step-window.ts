import { invalid, messageFor, MESSAGES } from '../../infrastructure/errors/api-error';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../infrastructure/config/durations';

const STEP_MS = { '5m': 5 * MINUTE_MS, '1h': HOUR_MS, '1d': DAY_MS } as const;
const MAX_STEPS = 300;

export type Step = keyof typeof STEP_MS;
export const STEPS = Object.keys(STEP_MS) as Step[];

/** A time span in whole steps. Steps of a day are days in UTC. */
export interface StepWindow {
  stepMs: number;
  /** Start of each step, earliest first; 1 to 300. */
  froms: Date[];
}

/**
 * Returns the steps that overlap a time span.
 * @param span `until` defaults to now, `since` to 24 hours before `until`
 * @throws ApiError 400 when it ends before it begins, or overlaps more than 300 steps
 */
export function stepWindow(step: Step, { since, until }: { since?: Date; until?: Date }, now: Date): StepWindow {
  const stepMs = STEP_MS[step];
  const end = (until ?? now).getTime();
  const begin = since?.getTime() ?? end - DAY_MS;
  if (begin >= end) throw invalid('query.until', MESSAGES.untilBeforeSince);
  const first = Math.floor(begin / stepMs);
  const count = Math.ceil(end / stepMs) - first;
  if (count > MAX_STEPS) throw invalid('query.step', messageFor.tooManySteps(count, MAX_STEPS));
  return { stepMs, froms: Array.from({ length: count }, (_, i) => new Date((first + i) * stepMs)) };
}
