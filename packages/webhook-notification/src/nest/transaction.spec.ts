import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromKnex, fromMikroOrm, rowsOf, type Transaction } from './transaction';

describe('rowsOf', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a transaction of drizzle', { execute: () => undefined, query: {} }],
    ['a transaction of kysely', { executeQuery: () => undefined }],
    ['a client of Prisma', { $queryRawUnsafe: () => undefined }],
    ['sql of postgres.js', Object.assign(() => undefined, { unsafe: () => undefined })],
    ['a Knex', Object.assign(() => undefined, { raw: () => undefined })],
    ['a Sequelize', { query: () => undefined, getQueryInterface: () => undefined }],
  ])('says what to pass instead of %s', async (_, tx) => {
    const error: unknown = await rowsOf(tx as Transaction, 'select 1').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(/^tx\.query is not a function\. .*fromPrisma\(tx\), fromSequelize\(/);
  });

  it('returns the rows of libraries that return only these, and of those that return more', async () => {
    const rows = [{ a: 1 }];
    expect(await rowsOf({ query: () => Promise.resolve(rows) }, '')).toBe(rows);
    expect(await rowsOf({ query: () => Promise.resolve({ rows, rowCount: 1 }) }, '')).toBe(rows);
  });
});

it.each([
  ['Knex', (raw: () => Promise<unknown>) => fromKnex({ raw })],
  ['MikroORM', (execute: () => Promise<unknown>) => fromMikroOrm({ execute })],
])('a statement of %s has question marks, and parameters as often as it names them', async (_, wrap) => {
  const asked: unknown[][] = [];
  const ask = (...statement: unknown[]) => Promise.resolve(asked.push(statement));
  await wrap(ask).query(`select $2::text, '?', $1::text, $2::text`, ['a', '$1 ?']);
  expect(asked).toEqual([["select ?::text, '\\?', ?::text, ?::text", ['$1 ?', 'a', '$1 ?']]]);
});

it('every parameter of a statement is cast from text, because drivers would convert others', () => {
  const source = join(__dirname, '..');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(?<!\.spec)\.ts$/.test(path),
  );
  const found = files.flatMap((path) => {
    const text = readFileSync(join(source, path), 'utf8');
    if (!text.includes('rowsOf(') && !path.endsWith('-statements.ts')) return [];
    return text
      .split('\n')
      .filter((line) => !/^\s*(\/?\*|\/\/)/.test(line))
      .flatMap((line) => [...line.matchAll(/\$\d+(?!::text)\b.*/g)].map(([rest]) => `${path}: ${rest}`));
  });
  expect(found.filter((each) => !each.startsWith('nest/transaction.ts'))).toEqual([]);
});
