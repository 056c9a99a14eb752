import type { TestDatabase } from './postgres';

/** `now()` is the time that the claiming statement itself sees. Only what was deferred is claimed by a rate. */
const RECORD = `
  create table public.claims (webhook_id uuid not null, claimed_at timestamptz not null);
  create function public.record_claim() returns trigger language plpgsql as $$
    begin
      insert into public.claims values (new.webhook_id, now());
      return null;
    end $$;
  create trigger record_claim after update on webhook_service.deliveries
    for each row when (old.parked and new.claimed) execute function public.record_claim();`;

/** When deferred deliveries were claimed. */
export interface Claims {
  /** In milliseconds since 1970, the first one first. */
  of(webhook: { id: string }): Promise<number[]>;
}

/**
 * Records every claim of a deferred delivery from now on, by PostgreSQL's clock. A busy machine makes attempts late, and then several at
 * once; claims show the rate exactly.
 */
export async function recordClaims(database: Pick<TestDatabase, 'query'>): Promise<Claims> {
  await database.query(RECORD);
  return {
    of: async ({ id }) => {
      const rows = await database.query<{ at: number }>(
        'select extract(epoch from claimed_at)::float8 * 1000 as at from public.claims where webhook_id = $1 order by 1',
        [id],
      );
      return rows.map(({ at }) => at);
    },
  };
}
