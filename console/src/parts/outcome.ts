import type { Delivery } from '../api/types';

/** The outcome of an attempt: another attempt follows `failed`, none follows `gave_up`. */
export type Outcome = 'delivered' | 'waiting' | 'retrying' | 'failed' | 'gave_up' | 'canceled';

export function outcomeOf({
  status,
  attempt,
  nextAttemptAt,
}: Pick<Delivery, 'status' | 'attempt' | 'nextAttemptAt'>): Outcome {
  if (status === 'succeeded') return 'delivered';
  if (status === 'canceled') return 'canceled';
  if (status === 'pending') return attempt > 1 ? 'retrying' : 'waiting';
  return nextAttemptAt ? 'failed' : 'gave_up';
}
