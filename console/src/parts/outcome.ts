import type { Delivery } from '../api/types';

/** What an attempt means for its event: `failed` is tried again, `gave_up` is not. */
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
