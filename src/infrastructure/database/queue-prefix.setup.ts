import { Logger } from '@nestjs/common';
import type { Config } from '../config/config';
import { type StatementsService, statement } from './statements.service';

/** Without a prefix, installations that share a Redis would take each other's jobs. Only the first one has been stored. */
const STORE = statement('store_queue_prefix')`
    with known as (select coalesce($1, 'webhooks-' || id) as prefix, queue_prefix as "storedPrefix"
                   from webhook_service.installation),
      stored as (update webhook_service.installation set queue_prefix = prefix
                 from known where queue_prefix is distinct from prefix)
    select * from known`;

interface Found {
  prefix: string;
  /** The prefix of the process that started last; null if none has started with a Redis. */
  storedPrefix: string | null;
}

/**
 * Returns the prefix of all keys of this installation on Redis: `QUEUE_PREFIX`, or one that contains the installation's id.
 * Stores it for applications that enqueue events by themselves. On PostgreSQL each database has queues of its own.
 */
export async function queuePrefixOf(config: Config, statements: StatementsService): Promise<string | undefined> {
  if (config.redisUrl === null) return undefined;
  const [{ prefix, storedPrefix }] = (await statements.run<Found>(STORE, [config.queuePrefix])) as [Found];
  if (storedPrefix !== null && storedPrefix !== prefix) {
    new Logger('QueueModule').warn(
      `The queues are now named ${prefix}:*, and were named ${storedPrefix}:*. Restart all processes with the same ` +
        `QUEUE_PREFIX. Deliveries of the former queues are enqueued again; delete their keys.`,
    );
  }
  return prefix;
}
