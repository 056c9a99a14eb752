import type { Client } from 'pg';

/** Unique among all servers that an address may lead to. */
const SESSION = `select concat_ws(' ', pg_backend_pid(), pg_postmaster_start_time()) as session`;
/** Some poolers keep a connection on its server once it has a setting, as every connection of the service does. */
const SETTING = `set webhook_service.session = ''`;
/** Repeated because other clients of the pooler take and release servers at random. */
const ROUNDS = 5;

const SHARED_SESSIONS =
  'DATABASE_URL leads to a connection pooler in transaction or statement mode, but every connection of the service ' +
  'requires a session of its own: let the pooler use session mode (PgBouncer: pool_mode = session), or connect to ' +
  'PostgreSQL directly.';

/**
 * Throws when a pooler gives two connections to the same address one session, or changes the session of one of them
 * after a statement. An idle pooler gives `second` the session that `first` has just used, or its servers in turn.
 */
export async function refuseSharedSessions(first: Client, second: Client): Promise<void> {
  for (const client of [first, second]) await client.query(SETTING);
  const known = new Map<Client, string>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const client of [first, second, second, first]) {
      const session = await sessionOf(client);
      const isOther = session !== (known.get(client) ?? session);
      known.set(client, session);
      if (isOther || known.get(first) === known.get(second)) throw new Error(SHARED_SESSIONS);
    }
  }
}

async function sessionOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ session: string }>(SESSION);
  return rows[0]?.session ?? '';
}
