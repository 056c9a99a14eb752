import { Redis } from 'ioredis';
import type { Haystack } from './canaries';
import type { TestDatabase } from '../../support/postgres';

const TABLES = `
  select format('%I.%I', table_schema, table_name) as name from information_schema.tables
  where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE' order by 1`;

/** Every row of every table, BullMQ's included, column by column; bytes are shown in hex. */
export async function dumpDatabase(database: TestDatabase): Promise<Haystack[]> {
  const haystacks: Haystack[] = [];
  for (const { name } of await database.query<{ name: string }>(TABLES)) {
    const rows = await database.query<{ row: Record<string, unknown> }>(`select to_jsonb(t) as row from ${name} t`);
    // A partition is told by its table.
    const table = name.replace(/_p\d{8}$/, '');
    for (const { row } of rows) {
      for (const [column, value] of Object.entries(row)) {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        haystacks.push({ place: `${table}.${column}`, text });
      }
    }
  }
  return haystacks;
}

/** Every key with its whole value; of a key that expires while the keys are read, its name alone. */
export async function dumpRedis(url: string): Promise<Haystack[]> {
  const redis = new Redis(url);
  try {
    const haystacks: Haystack[] = [];
    for await (const keys of redis.scanStream() as AsyncIterable<string[]>) {
      for (const key of keys) haystacks.push({ place: 'redis', text: `${key} ${await valueOf(redis, key)}` });
    }
    return haystacks;
  } finally {
    redis.disconnect();
  }
}

async function valueOf(redis: Redis, key: string): Promise<string> {
  const type = await redis.type(key);
  if (type === 'none') return '(expired)';
  const read: Record<string, () => Promise<unknown>> = {
    string: () => redis.get(key),
    hash: () => redis.hgetall(key),
    list: () => redis.lrange(key, 0, -1),
    set: () => redis.smembers(key),
    zset: () => redis.zrange(key, '0', '-1'),
    stream: () => redis.xrange(key, '-', '+'),
  };
  if (!read[type]) throw new Error(`There is no way to read a key of type ${type}.`);
  return JSON.stringify(await read[type]());
}
