import type { DataSource, Logger } from 'typeorm';

/** A statement as the service sent it. */
export interface SentStatement {
  sql: string;
  parameters: unknown[];
  /** What its transaction has set before. */
  settings?: string;
}

/** What became of it when PostgreSQL ran it once more and told how. */
export interface Plan {
  /** Pages that were read, from memory or from disk. */
  pages: number;
  /** Of the page of results. */
  rows: number;
  ms: number;
  /** Without the day of their partition. */
  indexes: string[];
  /** Rows that were read of tables, those that did not match included. */
  looked: number;
  /** Rows that a node read of a table from end to end, the most of any. */
  scanned: number;
  /** Rows that a node sorted, the most of any. */
  sorted: number;
}

interface Node {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Node[];
}

/** The statements that an action sends about a table. */
export async function statementsAbout(
  table: string,
  dataSource: DataSource,
  action: () => Promise<unknown>,
): Promise<SentStatement[]> {
  const sent: SentStatement[] = [];
  const { logger } = dataSource;
  let settings = '';
  const listener = {
    logQuery: (sql: string, parameters: unknown[] = []) => {
      if (/^set local/.test(sql)) settings = sql;
      if (/^commit/i.test(sql)) settings = '';
      if (sql.includes(`"${table}"`) || sql.includes(`webhook_service.${table}`))
        sent.push({ sql, parameters, settings });
    },
    logQueryError: () => undefined,
    logQuerySlow: () => undefined,
  };
  dataSource.logger = listener as unknown as Logger;
  try {
    await action();
  } finally {
    dataSource.logger = logger;
  }
  return sent;
}

/** Runs the statement, and says how PostgreSQL did. */
export async function planOf(dataSource: DataSource, { sql, parameters, settings }: SentStatement): Promise<Plan> {
  const explain = `explain (analyze, buffers, format json) ${sql}`;
  const [row] = await dataSource.transaction(async (manager) => {
    if (settings) await manager.query(settings);
    return manager.query<{ 'QUERY PLAN': [{ Plan: Node; 'Execution Time': number }] }[]>(explain, parameters);
  });
  const [{ Plan: top, 'Execution Time': ms }] = row!['QUERY PLAN'];
  const nodes = flatten(top);
  const inputOf = (node: Node) => Math.max(0, ...(node.Plans ?? []).map(rowsOf));
  return {
    pages: top['Shared Hit Blocks'] + top['Shared Read Blocks'],
    rows: rowsOf(top),
    ms,
    indexes: [...new Set(nodes.flatMap((node) => (rowsRead(node) > 0 ? indexOf(node) : [])))].sort(),
    looked: nodes.filter((node) => node['Relation Name'] !== undefined).reduce((sum, node) => sum + rowsRead(node), 0),
    scanned: Math.max(0, ...nodes.filter(({ 'Node Type': type }) => type === 'Seq Scan').map(rowsRead)),
    sorted: Math.max(0, ...nodes.filter(({ 'Node Type': type }) => /Sort/.test(type)).map(inputOf)),
  };
}

const flatten = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(flatten)];
const rowsOf = (node: Node): number => node['Actual Rows'] * node['Actual Loops'];
const rowsRead = (node: Node): number => rowsOf(node) + (node['Rows Removed by Filter'] ?? 0) * node['Actual Loops'];

/** An index of a partition has its columns in its name, and PostgreSQL's own shortening where that was too long. */
function indexOf({ 'Index Name': name }: Node): string[] {
  return name === undefined ? [] : [name.replace(/_p\d{8}/, '')];
}
