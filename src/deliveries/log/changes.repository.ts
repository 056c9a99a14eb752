import { Injectable } from '@nestjs/common';
import { isLive } from '../../auth/live-token';
import { StatementsService, statement } from '../../infrastructure/database/statements.service';
import { type Delivery, LISTED_COLUMNS } from '../rows/delivery.entity';
import type { Change, ChangedRow, Polled } from './change-feed';
import type { ChangePosition } from './change-position';
import { IS_GIVEN_UP } from './delivery-filters';

export interface PollFrom {
  userId: string;
  from: ChangePosition;
}

export interface PollResult {
  now: ChangePosition;
  /** One per user, in order; null where the position belongs to another history of the database. */
  polled: (Polled | null)[];
  liveTokens: string[];
}

const MAX_ROWS = 2000;
/** No transaction has this id. */
const NEVER = 2n ** 63n - 1n;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Transaction ids belong to the cluster that assigned them. A dump carries `changed_in` to a cluster whose counter may be lower
 * and which later assigns the same ids itself. `xmin` is not dumped: it is the transaction that wrote the row in this cluster. So
 * for a row that was changed here, `xmin` is `changed_in` or later, modulo 2^32 because `xmin` has 32 bits.
 */
const CHANGED_HERE = `changed_in < pg_snapshot_xmax(pg_current_snapshot())
        and (xmin::text::bigint - changed_in::text::bigint) & 4294967295 < 2147483648`;

/**
 * The history of the transaction ids. After a failover the new primary assigns ids again that the old one had assigned to lost
 * transactions; from its promotion on it writes another timeline, the first eight digits of the name of a WAL file. A failover of
 * Amazon Aurora loses no transaction, and by default its functions for the WAL fail.
 */
const HISTORY = `
  case
    when to_regproc('aurora_version') is not null then 'aurora'
    else (select system_identifier from pg_control_system()) || '.'
      || case when pg_is_in_recovery() then 'standby' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end
  end`;

/**
 * Selects the rows whose last change a snapshot does not see, for each user in the order of the transactions. A row that was
 * inserted since and has changed again had a state in between. The changes of all users are read at once: PostgreSQL would prefer
 * an index by user to better ones when it plans for an empty partition.
 */
const POLL = statement('changed_deliveries')`
    with recent as materialized (
      -- The concatenation rules out the user index, which would scan the user's whole log.
      select * from webhook_service.deliveries
      where changed_in >= $7::text::xid8 and ${CHANGED_HERE} and user_id || '' = any($1::text[])
    )
    -- The first row is not a change; it carries the values that are returned once.
    select *
    from (
      select 0::bigint as place, pg_current_snapshot()::text as snapshot, ${HISTORY} as history,
        array(select t.id from webhook_service.access_tokens t
              where t.id = any($6::uuid[]) and ${isLive('t')}) as "liveTokens"
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
    order by place, "changedIn"::xid8, id`;

type PolledRow = ChangedRow & { place: string; changedIn: string; hadStateBefore: boolean };
type FirstRow = { snapshot: string; history: string; liveTokens: string[] };

/** Finds changes of deliveries. Only requests for changes pay for this. */
@Injectable()
export class ChangesRepository {
  constructor(private readonly statements: StatementsService) {}

  async now(): Promise<ChangePosition> {
    return (await this.poll([], [])).now;
  }

  /** Runs one query for several users, at most 2,000 rows each. */
  async poll(feeds: readonly PollFrom[], tokenIds: readonly string[]): Promise<PollResult> {
    const firsts = feeds.map(({ from }) => from.upTo?.changedIn ?? xminOf(from.base));
    const rows = await this.statements.run<FirstRow | PolledRow>(POLL, [
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
    const [first, ...changed] = rows as [FirstRow, ...PolledRow[]];
    const rowsOf = feeds.map((): PolledRow[] => []);
    for (const row of changed) rowsOf[Number(row.place) - 1]?.push(row);
    const { snapshot, history, liveTokens } = first;
    const isKnown = (from: ChangePosition): boolean =>
      from.history === history && xmaxOf(from.base) <= xmaxOf(snapshot);
    const polled = feeds.map(({ from }, i) =>
      isKnown(from) ? polledOf(from, rowsOf[i] as PolledRow[], snapshot) : null,
    );
    return { now: { history, base: snapshot, upTo: null }, polled, liveTokens };
  }
}

/** The oldest transaction that a snapshot may not see. */
const xminOf = (snapshot: string): string => snapshot.split(':', 1)[0] ?? '0';

/** An id above all transactions that a snapshot may see. It never decreases, unless a copy of the files was restored. */
const xmaxOf = (snapshot: string): bigint => BigInt(snapshot.split(':', 2)[1] ?? '0');

function polledOf(from: ChangePosition, rows: readonly PolledRow[], snapshot: string): Polled {
  const target = from.upTo?.target ?? snapshot;
  const changes = rows.flatMap((row) => statesOf(row, from, target));
  const last = changes.at(-1);
  const to = last && rows.length === MAX_ROWS ? last.position : { ...from, base: target, upTo: null };
  const given = from.upTo;
  const isNew = ({ position: { upTo } }: Change) =>
    !given || upTo?.id !== given.id || upTo.changedIn !== given.changedIn || (upTo.isWhole && !given.isWhole);
  return { from, changes: changes.filter(isNew), to };
}

/** Returns the state of a row, preceded by its state in between if there was one. */
function statesOf({ changedIn, hadStateBefore, ...row }: PolledRow, from: ChangePosition, target: string): Change[] {
  const behind = (isWhole: boolean) => ({ ...from, upTo: { target, changedIn, id: row.id, isWhole } });
  const whole = { row, position: behind(true) };
  return hadStateBefore ? [{ row: pendingBefore(row), position: behind(false) }, whole] : [whole];
}

function pendingBefore(row: ChangedRow): ChangedRow {
  const nothing: Partial<Delivery> = {
    ...{ responseStatus: null, durationMs: null, errorCode: null, errorMessage: null },
    ...{ attemptedAt: null, completedAt: null, nextAttemptAt: null, stopped: null },
  };
  return { ...row, ...nothing, status: 'pending', claimed: false, isGivenUp: false };
}
