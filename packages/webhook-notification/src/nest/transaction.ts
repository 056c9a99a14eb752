import { optionalPackage } from './optional-package';

/**
 * Runs statements, in a transaction or alone: a TypeORM EntityManager or DataSource, a client or pool of pg, or the
 * result of `fromDrizzle`, `fromKnex`, `fromKysely`, `fromMikroOrm`, `fromPostgresJs`, `fromPrisma` or `fromSequelize`.
 */
export interface Transaction {
  query(sql: string, parameters: string[]): PromiseLike<unknown>;
}

const WHAT_TO_PASS =
  'tx.query is not a function. As tx or connection, pass an EntityManager or DataSource of TypeORM, a client or pool of pg, or ' +
  'wrap that of another library: fromDrizzle(tx), fromKnex(trx), fromKysely(trx), fromMikroOrm(em), fromPostgresJs(sql), ' +
  'fromPrisma(tx), fromSequelize(sequelize, transaction).';

/**
 * Returns the rows of a statement. Its parameters are texts, which every driver passes unchanged where the statement casts them:
 * `$1::text`.
 * @throws TypeError that says what to pass, for anything else than a Transaction
 */
export async function rowsOf<Row>(tx: Transaction, sql: string, ...parameters: string[]): Promise<Row[]> {
  // The query method of a Sequelize takes other arguments.
  if (typeof (tx as Partial<Transaction> | null)?.query !== 'function' || 'getQueryInterface' in tx)
    throw new TypeError(WHAT_TO_PASS);
  const result = await tx.query(sql, parameters);
  return (Array.isArray(result) ? result : (result as { rows: Row[] }).rows) as Row[];
}

interface DrizzleLike {
  execute(query: never): PromiseLike<unknown>;
}

/** Wraps a database or transaction of drizzle-orm, as `tx` or `connection`. */
export function fromDrizzle(db: DrizzleLike): Transaction {
  return {
    query: (text, parameters) => {
      const { sql } = optionalPackage<{ sql: SqlTag }>('drizzle-orm');
      const parts = text.split(/\$(\d+)/).map((part, i) => {
        return i % 2 === 0 ? sql.raw(part) : sql`${parameters[Number(part) - 1]}`;
      });
      return db.execute(sql.join(parts) as never);
    },
  };
}

interface SqlTag {
  (strings: TemplateStringsArray, ...values: unknown[]): unknown;
  raw(text: string): unknown;
  join(parts: unknown[]): unknown;
}

interface KyselyLike {
  executeQuery(query: never): PromiseLike<unknown>;
}

/** Wraps a database or transaction of kysely, as `tx` or `connection`. */
export function fromKysely(db: KyselyLike): Transaction {
  return {
    query: (text, parameters) => {
      const { CompiledQuery } = optionalPackage<{
        CompiledQuery: { raw(sql: string, parameters: unknown[]): unknown };
      }>('kysely');
      return db.executeQuery(CompiledQuery.raw(text, parameters) as never);
    },
  };
}

interface PrismaLike {
  $queryRawUnsafe(sql: string, ...parameters: string[]): PromiseLike<unknown>;
}

/** Wraps a client of Prisma, or the one of an interactive transaction, as `connection` or `tx`. */
export const fromPrisma = (client: PrismaLike): Transaction => ({
  query: (text, parameters) => client.$queryRawUnsafe(text, ...parameters),
});

interface PostgresJsLike {
  unsafe(sql: string, parameters: string[]): PromiseLike<unknown>;
}

/** Wraps `sql` of postgres.js, or that of `sql.begin`, as `connection` or `tx`. */
export const fromPostgresJs = (sql: PostgresJsLike): Transaction => ({
  query: (text, parameters) => sql.unsafe(text, parameters),
});

interface SequelizeLike {
  query(sql: string, options: never): PromiseLike<unknown>;
}

/** Wraps a Sequelize as `connection`, or with a transaction of it as `tx`. */
export const fromSequelize = (sequelize: SequelizeLike, transaction?: object): Transaction => ({
  query: (text, parameters) => {
    const bind = parameters.length > 0 ? { bind: parameters } : {};
    return sequelize.query(text, { type: 'SELECT', transaction, ...bind } as never);
  },
});

interface KnexLike {
  raw(sql: string, parameters: readonly string[]): PromiseLike<unknown>;
}

/** Wraps a Knex, or a transaction of it, as `connection` or `tx`. */
export const fromKnex = (knex: KnexLike): Transaction => ({
  query: (text, parameters) => knex.raw(...withQuestionMarks(text, parameters)),
});

interface MikroOrmLike {
  execute(sql: string, parameters: string[]): PromiseLike<unknown>;
}

/** Wraps an EntityManager of MikroORM, as `connection`, or in `em.transactional` as `tx`. */
export const fromMikroOrm = (em: MikroOrmLike): Transaction => ({
  query: (text, parameters) => em.execute(...withQuestionMarks(text, parameters)),
});

/** Returns a statement whose parameters are `?` instead of `$1`, and its parameters in the order in which it has them. */
function withQuestionMarks(text: string, parameters: readonly string[]): [text: string, parameters: string[]] {
  const places = [...text.matchAll(/\$(\d+)/g)];
  return [
    text.replaceAll('?', '\\?').replaceAll(/\$\d+/g, '?'),
    places.map(([, place]) => parameters[Number(place) - 1] ?? ''),
  ];
}
