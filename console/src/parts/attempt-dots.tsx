import type { Delivery } from '../api/types';
import { TEXT } from '../text/en';
import { type Outcome, outcomeOf } from './outcome';

const MARKS: Record<Outcome, string> = {
  delivered: 'good',
  waiting: 'wait',
  retrying: 'wait',
  failed: 'bad',
  gave_up: 'bad',
  canceled: 'none',
};

/** A dot for each attempt so far: the earlier ones failed. */
export const AttemptDots = ({ of }: { of: Pick<Delivery, 'status' | 'attempt' | 'nextAttemptAt'> }) => (
  <span class="dots">
    <span class="unseen">{TEXT.log.attempt(of.attempt)}</span>
    {Array.from({ length: of.attempt }, (_, i) => (
      <i key={i} aria-hidden="true" class={i + 1 < of.attempt ? 'bad' : MARKS[outcomeOf(of)]} />
    ))}
  </span>
);
