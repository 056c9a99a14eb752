import { Client, type ClientConfig } from 'pg';

/**
 * A connection of BullMQ's pool. When PostgreSQL ends it while BullMQ has it checked out, its query fails, which is
 * enough: without a listener the `error` event would end the process as well.
 */
export class TolerantPgClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}
