import { Injectable } from '@nestjs/common';
import { type Statement, StatementsService } from '../../plumbing/database/statements.service';
import type { Delivery } from '../delivery.entity';
import { LISTED_COLUMNS } from '../listed-columns';
import type { Change, ChangedRow, Look } from './change-feed';
import type { ChangePosition } from './change-position';
import { IS_GIVEN_UP } from './delivery-filters';

/** From where a user's changes are looked for. */
export interface LookFrom {
  userId: string;
  from: ChangePosition;
}

/** What a question to PostgreSQL has answered. */
export interface Looked {
  /** That it was answered from. */
  snapshot: string;
  /** One for each user, in order; null where the position belongs to another history of the database. */
  looks: (Look | null)[];
  /** Those of the tokens that are live. */
  liveTokens: string[];
}

/** The most rows that a look reads of one user. */
const MAX_ROWS = 2000;
/** No transaction has this id. */
const NEVER = 2n ** 63n - 1n;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * The ids of transactions belong to the cluster that made them. A dump carries `changed_in` to a cluster whose counter may be
 * lower, and whose own transactions get the same ids later. `xmin` is not carried: it is the transaction that wrote the row
 * here. So a row that was changed here was written by that transaction or a later one, modulo 2^32 as `xmin` has 32 bits.
 */
const CHANGED_HERE = `changed_in < pg_snapshot_xmax(pg_current_snapshot())
        and (xmin::text::bigint - changed_in::text::bigint) & 4294967295 < 2147483648`;

/**
 * The rows whose last change a snapshot does not see: those of each user in the order of the transactions that made them.
 * A row that was inserted since, and has changed again, had a state before this one. What has changed is read once for all
 * users: an index by user would lead PostgreSQL away from better ones where it plans for an empty partition.
 */
const LOOK: Statement = {
  name: 'changed_deliveries',
  text: `
    with recent as materialized (
      -- Not by an index of the user: it would lead through the user's whole log.
      select * from webhook_service.deliveries
      where changed_in >= $7::text::xid8 and ${CHANGED_HERE} and user_id || '' = any($1::text[])
    )
    -- The first row is no change: it has what is said once.
    select *
    from (
      select 0::bigint as place, pg_current_snapshot()::text as snapshot,
        array(select t.id from webhook_service.access_tokens t
              where t.id = any($6::uuid[]) and (t.expires_at is null or t.expires_at > now())) as "liveTokens"
    ) as first full join (
      select place, ${LISTED_COLUMNS}, d.changed_in::text as "changedIn", ${IS_GIVEN_UP} as "isGivenUp",
             d.created_in < d.changed_in and not pg_visible_in_snapshot(d.created_in, d.base) as "hadStateBefore"
      from (
        select f.place, f.base, recent.*, row_number() over (partition by f.place order by recent.changed_in, recent.id) as nth
        from unnest($1::text[], $2::pg_snapshot[], $3::pg_snapshot[], $4::text[]::xid8[], $5::uuid[]) with ordinality
          as f (user_id, base, target, changed_in, id, place)
        join recent on recent.user_id = f.user_id
        where (recent.changed_in, recent.id) >= (f.changed_in, f.id)
          and not pg_visible_in_snapshot(recent.changed_in, f.base)
          and (f.target is null or pg_visible_in_snapshot(recent.changed_in, f.target))
      ) as d
      where nth <= ${MAX_ROWS}
    ) as changed using (place)
    order by place, "changedIn"::xid8, id`,
};

type LookRow = ChangedRow & { place: string; changedIn: string; hadStateBefore: boolean };
type FirstRow = { snapshot: string; liveTokens: string[] };

/** Finds changes of deliveries. Costs nobody anything who does not ask. */
@Injectable()
export class ChangesRepository {
  constructor(private readonly statements: StatementsService) {}

  /** Where to begin for what changes from now on. */
  async now(): Promise<ChangePosition> {
    return { base: (await this.look([], [])).snapshot, upTo: null };
  }

  /**
   * The changes of several users behind their positions, at most 2,000 rows of each; and which of these tokens are live.
   * One question to PostgreSQL.
   */
  async look(feeds: readonly LookFrom[], tokenIds: readonly string[]): Promise<Looked> {
    const firsts = feeds.map(({ from }) => from.upTo?.changedIn ?? xminOf(from.base));
    const rows = await this.statements.run<FirstRow | LookRow>(LOOK, [
      feeds.map(({ userId }) => userId),
      feeds.map(({ from }) => from.base),
      feeds.map(({ from }) => from.upTo?.target ?? null),
      firsts,
      feeds.map(({ from }) => from.upTo?.id ?? NO_ID),
      tokenIds,
      firsts
        .map(BigInt)
        .reduce((lowest, first) => (first < lowest ? first : lowest), NEVER)
        .toString(),
    ]);
    const [first, ...changed] = rows as [FirstRow, ...LookRow[]];
    const rowsOf = feeds.map((): LookRow[] => []);
    for (const row of changed) rowsOf[Number(row.place) - 1]?.push(row);
    const { snapshot, liveTokens } = first;
    const looks = feeds.map(({ from }, i) =>
      xmaxOf(from.base) > xmaxOf(snapshot) ? null : lookOf(from, rowsOf[i] as LookRow[], snapshot),
    );
    return { snapshot, looks, liveTokens };
  }
}

/** The oldest transaction that a snapshot may not see. */
const xminOf = (snapshot: string): string => snapshot.split(':', 1)[0] ?? '0';

/** Above all transactions that a snapshot may see. It never goes back, unless the database was restored or has failed over. */
const xmaxOf = (snapshot: string): bigint => BigInt(snapshot.split(':', 2)[1] ?? '0');

function lookOf(from: ChangePosition, rows: readonly LookRow[], snapshot: string): Look {
  const target = from.upTo?.target ?? snapshot;
  const changes = rows.flatMap((row) => statesOf(row, { base: from.base, target }));
  const last = changes.at(-1);
  const to = last && rows.length === MAX_ROWS ? last.position : { base: target, upTo: null };
  const given = from.upTo;
  const isNew = ({ position: { upTo } }: Change) =>
    !given || upTo?.id !== given.id || upTo.changedIn !== given.changedIn || (upTo.isWhole && !given.isWhole);
  return { from, changes: changes.filter(isNew), to };
}

/** The state of a row, and before it the one that it had in between. */
function statesOf(
  { changedIn, hadStateBefore, ...row }: LookRow,
  { base, target }: { base: string; target: string },
): Change[] {
  const behind = (isWhole: boolean) => ({ base, upTo: { target, changedIn, id: row.id, isWhole } });
  const whole = { row, position: behind(true) };
  return hadStateBefore ? [{ row: pendingBefore(row), position: behind(false) }, whole] : [whole];
}

/** A row as it was while it was pending. */
function pendingBefore(row: ChangedRow): ChangedRow {
  const nothing: Partial<Delivery> = {
    ...{ responseStatus: null, durationMs: null, errorCode: null, errorMessage: null },
    ...{ attemptedAt: null, completedAt: null, nextAttemptAt: null },
  };
  return { ...row, ...nothing, status: 'pending', claimed: false, isGivenUp: false };
}
