import { CLUSTER_SEND_QUEUES, isRedisCluster } from '../plumbing/config/redis-nodes';

/** The braces keep all keys of a queue in one slot of a Redis cluster. */
const nameOf = (index: number): string => `{send-${index}}`;

/** The names of all send queues that can exist. */
export const ALL_SEND_QUEUES: readonly string[] = Array.from({ length: CLUSTER_SEND_QUEUES }, (_, i) => nameOf(i));

/** The names of the send queues: several on a Redis cluster, to spread load over its nodes; elsewhere `{send-0}`. */
export const sendQueueNames = (redisUrl: string | null): readonly string[] =>
  isRedisCluster(redisUrl) ? ALL_SEND_QUEUES : ALL_SEND_QUEUES.slice(0, 1);

/**
 * The index, below `count`, of the queue that offers a delivery. It is always the same for an id. The end of the id, a
 * UUID of version 7, is random or a hash, so the deliveries spread evenly.
 */
export function sendQueueIndex(deliveryId: string, count: number): number {
  return Number.parseInt(deliveryId.slice(-8), 16) % count;
}

/** The same in SQL, from the `id` of a row. The first parameter of the statement is the count. */
export const SEND_QUEUE_INDEX = `('x' || right(id::text, 8))::bit(32)::bigint % $1`;
