import { optionalPackage } from './optional-package';

/**
 * Runs statements, in a transaction or alone: a TypeORM EntityManager or DataSource, a client or pool of pg, or the
 * result of `fromDrizzle` or `fromKysely`.
 */
export interface Transaction {
  query(sql: string, parameters: string[]): PromiseLike<unknown>;
}

/** Returns the rows of a statement. Its parameters are texts, which every driver passes unchanged. */
export async function rowsOf<Row>(tx: Transaction, sql: string, ...parameters: string[]): Promise<Row[]> {
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
