import { CLUSTER_SEND_QUEUES, isRedisCluster } from '../infrastructure/config/redis-nodes';

/** The braces are a Redis Cluster hash tag: they keep all keys of a queue in one slot. */
const nameOf = (index: number): string => `{send-${index}}`;

/** The first send queue; the only one unless Redis is a cluster. */
export const SEND_QUEUE = nameOf(0);

/** Returns the names of the send queues: several on a Redis cluster, to spread the load across its nodes. */
export const sendQueueNames = (redisUrl: string | null): readonly string[] =>
  Array.from({ length: isRedisCluster(redisUrl) ? CLUSTER_SEND_QUEUES : 1 }, (_, i) => nameOf(i));

/** Always the same index for an id. The end of a UUIDv7 is random or a hash, so the deliveries spread evenly. */
export function sendQueueIndex(deliveryId: string, count: number): number {
  return Number.parseInt(deliveryId.slice(-8), 16) % count;
}
