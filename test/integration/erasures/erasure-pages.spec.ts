import { DataSource } from 'typeorm';
import { DAY_ROWS, ERASURE_STEPS } from '../../../src/erasures/erasure-pages.repository';
import { dataSourceOptions } from '../../../src/infrastructure/database/data-source.setup';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { BusyDay } from '../stage/busy-day';

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  Plans?: Node[];
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

describe('A page of an erasure', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  beforeAll(async () => {
    database = await cloneDatabase();
    dataSource = await new DataSource(dataSourceOptions(database.url, 1)).initialize();
    await new BusyDay(database).begin(dataSource);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** The nodes of the plan that PostgreSQL uses when it cannot prefer to read everything. */
  const planOf = (sql: string, parameters: unknown[]): Promise<Node[]> =>
    dataSource.transaction(async (manager) => {
      await manager.query(
        'set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off',
      );
      const rows = await manager.query<{ 'QUERY PLAN': [{ Plan: Node }] }[]>(
        `explain (format json) ${sql}`,
        parameters,
      );
      const flatten = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(flatten)];
      return flatten(rows[0]!['QUERY PLAN'][0].Plan);
    });
  const scanned = (nodes: Node[]) =>
    nodes.filter(({ 'Node Type': type }) => type === 'Seq Scan').map(({ 'Relation Name': table }) => table);

  it('reads no table without an index, except the attempts of the last seconds', async () => {
    const plans = await Promise.all(ERASURE_STEPS.map(({ statement }) => planOf(statement, ['alice'])));
    expect([...new Set(plans.flatMap(scanned))]).toEqual(['recent_attempts']);
  });

  it.each(DAY_ROWS)('finds $kind by their user, and changes them by their ids', async ({ find, change }) => {
    const conditions = (await planOf(find, ['alice', NO_ID])).flatMap(({ 'Index Cond': condition }) => condition ?? []);
    expect(conditions.length).toBeGreaterThan(0);
    expect(conditions.filter((condition) => !/user_id.* = 'alice'/.test(condition))).toEqual([]);
    expect(scanned(await planOf(change, [[NO_ID], NO_ID, NO_ID]))).toEqual([]);
  });
});
