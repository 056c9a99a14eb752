import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { isAlive } from './postgres-process';

/** The keys of this lock among PostgreSQL's advisory locks. The first one spells "wns". */
const LOCK_KEYS = [0x776e73, 1];
const HOLDER_NAME = 'data folder lock of pid ';
const HOLDER_DEADLINE_MS = 5_000;
const HOLDER_POLL_MS = 50;
const MAX_BACKOFF_MS = 5_000;

export interface ServiceLock {
  /** Releases the lock. */
  release(): Promise<void>;
}

/**
 * Keeps every other service from running on this data folder, until `release` or the end of this process. The lock
 * belongs to a PostgreSQL session. When its connection is lost, the lock is acquired again in the background.
 * @throws Error with a readable message when another process runs on the folder
 */
export async function lockForService(embedded: { url: string }, dataDir: string): Promise<ServiceLock> {
  let released = false;
  let client = await acquire(embedded.url, dataDir);

  const reacquire = async () => {
    for (let backoffMs = 100; !released; backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS)) {
      await sleep(backoffMs, undefined, { ref: false });
      const again = await acquire(embedded.url, dataDir).catch(() => null);
      if (again) return keep(again);
    }
  };
  const keep = (acquired: Client): void => {
    client = acquired;
    client.once('end', () => void reacquire());
    if (released) void client.end();
  };
  keep(client);

  return {
    async release() {
      released = true;
      await client.end();
    },
  };
}

async function acquire(url: string, dataDir: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: `${HOLDER_NAME}${process.pid}` });
  // A broken connection emits this event. Without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const deadline = Date.now() + HOLDER_DEADLINE_MS;
    for (;;) {
      const { rows } = await client.query<{ locked: boolean }>(
        'select pg_try_advisory_lock($1, $2) as locked',
        LOCK_KEYS,
      );
      if (rows[0]?.locked) return client;
      const holder = await findHolder(client);
      // PostgreSQL takes a moment to notice that the holder was killed.
      if ((holder && isAlive(holder)) || Date.now() > deadline) throw alreadyRuns(holder, dataDir);
      await sleep(HOLDER_POLL_MS);
    }
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

async function findHolder(client: Client): Promise<number | null> {
  const { rows } = await client.query<{ name: string }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.granted and l.classid = $1 and l.objid = $2 and l.objsubid = 2
        and l.database = (select oid from pg_database where datname = current_database())`,
    LOCK_KEYS,
  );
  return Number(rows[0]?.name.slice(HOLDER_NAME.length)) || null;
}

function alreadyRuns(pid: number | null, dataDir: string): Error {
  const who = pid ? `Another process (pid ${pid})` : 'Another process';
  return new Error(`${who} already runs on ${dataDir}: stop it first, or set DATA_DIR or DATABASE_URL.`);
}
