import { ApiError } from '../../plumbing/errors/api-error';
import { messageFor, MESSAGES } from '../../plumbing/errors/messages';

const MINUTE_MS = 60_000;
const STEP_MS = { '5m': 5 * MINUTE_MS, '1h': 60 * MINUTE_MS, '1d': 1440 * MINUTE_MS } as const;
const DAY_MS = STEP_MS['1d'];
const MAX_STEPS = 300;

export type Step = keyof typeof STEP_MS;
export const STEPS = Object.keys(STEP_MS) as Step[];

/** A span of time in whole steps. The steps of a day are those of UTC. */
export interface StepWindow {
  stepMs: number;
  /** When each step begins, the earliest first; at least one, at most 300. */
  froms: Date[];
}

/**
 * The steps that a span of time touches.
 * @param span `until` is now by default, and `since` 24 hours before
 * @throws ApiError 400 when it ends before it begins, or touches more than 300 steps
 */
export function stepWindow(step: Step, { since, until }: { since?: Date; until?: Date }, now: Date): StepWindow {
  const stepMs = STEP_MS[step];
  const end = (until ?? now).getTime();
  const begin = since?.getTime() ?? end - DAY_MS;
  if (begin >= end) throw new ApiError(400, MESSAGES.untilBeforeSince);
  const first = Math.floor(begin / stepMs);
  const count = Math.ceil(end / stepMs) - first;
  if (count > MAX_STEPS) throw new ApiError(400, messageFor.tooManySteps(count, MAX_STEPS));
  return { stepMs, froms: Array.from({ length: count }, (_, i) => new Date((first + i) * stepMs)) };
}
