import type { DataSource, Logger } from 'typeorm';

/** A statement as the service sent it. */
export interface SentStatement {
  sql: string;
  parameters: unknown[];
  /** The settings of its transaction. */
  settings?: string;
}

/** The cost of a statement that PostgreSQL ran once more with `explain (analyze)`. */
export interface Plan {
  /** Pages that were read, from memory or from disk. */
  pages: number;
  /** Of the page of results. */
  rows: number;
  ms: number;
  /** Without the day of their partition. */
  indexes: string[];
  /** Rows that were read from tables, including those that did not match. */
  looked: number;
  /** The most rows that a node read in a sequential scan. */
  scanned: number;
  /** The most rows that a node sorted. */
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

/** Runs the statement, and returns how PostgreSQL executed it. */
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

/** The name of a partition's index contains its columns; PostgreSQL shortens names that are too long. */
function indexOf({ 'Index Name': name }: Node): string[] {
  return name === undefined ? [] : [name.replace(/_p\d{8}/, '')];
}
