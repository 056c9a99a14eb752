import { Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import type { Histogram } from 'prom-client';
import { DataSource } from 'typeorm';
import { MetricsService } from '../metrics/metrics.service';

const STATEMENT_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 5];
const WAIT_SECONDS = [0.001, 0.01, 0.1, 0.5, 2.5];

type Callback = (...results: unknown[]) => void;
type Call = (...args: unknown[]) => unknown;

/**
 * Measures each statement, and each wait for a connection, of this process's pool; BullMQ has its own pools, and statements of
 * maintenance their own connections. A statement that waits for a lock ends after a second, any other after 8 s at
 * the latest, and is measured then.
 */
@Injectable()
export class StatementTimesService {
  constructor(dataSource: DataSource, metrics: MetricsService) {
    const ofStatements = 'Duration of a statement on PostgreSQL, those that fail included.';
    const statements = metrics.histogram('webhooks_postgres_statement_seconds', ofStatements, STATEMENT_SECONDS);
    const ofWaits = 'Wait for a connection of the pool, including the time to open one.';
    const waits = metrics.histogram('webhooks_postgres_pool_wait_seconds', ofWaits, WAIT_SECONDS);
    const { master: pool } = dataSource.driver as unknown as { master: Pool };
    pool.connect = timed(waits, pool.connect.bind(pool) as Call) as Pool['connect'];
    const known = new WeakSet<PoolClient>();
    // Not `connect`, because TypeORM has already opened a connection.
    pool.on('acquire', (client) => {
      if (known.has(client)) return;
      known.add(client);
      client.query = timed(statements, client.query.bind(client) as Call) as PoolClient['query'];
    });
  }
}

/** Wraps a function of pg that takes a callback as its last argument or returns a promise. */
function timed(histogram: Histogram, call: Call): Call {
  return (...args) => {
    const begunAt = performance.now();
    const observe = (): void => histogram.observe((performance.now() - begunAt) / 1000);
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      const done: Callback = (...results) => {
        observe();
        (callback as Callback)(...results);
      };
      return call(...args.slice(0, -1), done);
    }
    const result = call(...args);
    if (result instanceof Promise) result.then(observe, observe);
    return result;
  };
}
