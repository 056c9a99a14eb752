import type { Pool, PoolClient } from 'pg';

/** What PostgreSQL reports about a statement that it has run. */
export interface Cost {
  sql: string;
  /** Pages that it read, from memory or from disk. */
  pages: number;
  /** Functions that PostgreSQL compiled for it. */
  compiled: number;
}

interface PlanNode {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

/** Makes PostgreSQL send the client the cost of each statement, with the plan that it really used. */
const REPORT = `
  load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on;
  set auto_explain.log_buffers = on; set auto_explain.log_timing = off; set auto_explain.log_format = json;
  set client_min_messages = log`;

/** Measures every statement of a pool with a single connection, which must belong to a superuser. */
export async function measure(pool: Pool): Promise<(action: () => Promise<unknown>) => Promise<Cost[]>> {
  let costs: Cost[] = [];
  // The existing connection reports nothing.
  (await pool.connect()).release(true);
  pool.options.verify = (client: PoolClient, done) => {
    client.on('notice', ({ message }) => {
      const [, text] = /^duration: [\d.]+ ms {2}plan:\n([^]*)$/.exec(message ?? '') ?? [];
      if (!text) return;
      const { 'Query Text': sql, Plan: plan, JIT: jit } = JSON.parse(text) as Explained;
      costs.push({ sql, pages: pagesOf(plan), compiled: jit?.Functions ?? 0 });
    });
    client.query(REPORT, done);
  };
  return async (action) => {
    costs = [];
    await action();
    return [...costs];
  };
}

/** A node counts what it requests from its children, which may be less than what they read in the end. */
function pagesOf({ 'Shared Hit Blocks': hit, 'Shared Read Blocks': read, Plans: children = [] }: PlanNode): number {
  return Math.max(
    hit + read,
    children.reduce((sum, child) => sum + pagesOf(child), 0),
  );
}

interface Explained {
  'Query Text': string;
  Plan: PlanNode;
  JIT?: { Functions: number };
}
