export const STALE_REASONS = ['missing_lock', 'lock_mismatch', 'missing_key'] as const;

const BEGINNINGS: Record<(typeof STALE_REASONS)[number], string> = {
  missing_lock: 'Missing lock for job ',
  lock_mismatch: 'Lock mismatch for job ',
  missing_key: 'Missing key for job ',
};

/**
 * Returns the reason when a worker's error says that its job is stale: the lock expired during processing, so that the
 * job went to another worker or is gone. That is harmless, because a job is only a hint and the row decides. Returns
 * null for every other error. The texts are those of BullMQ 6.7.
 */
export function staleReason({ message }: Error): (typeof STALE_REASONS)[number] | null {
  return STALE_REASONS.find((reason) => message.startsWith(BEGINNINGS[reason])) ?? null;
}
