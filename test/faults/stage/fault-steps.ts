import { DELIVERY_TIMEOUT_MS, type Stage } from './chaos-stage';
import { verdictOf, LOG_ROWS, type LogRow, subscribes, type Verdict } from './chaos-verdict';
import { miscountsOf } from '../../support/miscounts';
import { PATIENCE_MS, waitFor } from '../../support/wait-for';

/** Several kinds of receivers: a quick one, two that fail first, and a slow one. */
export async function subscribeEverybody(stage: Stage): Promise<void> {
  await stage.subscribe('everything', ['*']);
  await stage.subscribe('fails-first', ['job.*'], { failsUntil: 1 });
  await stage.subscribe('fails-twice', ['follower.gained'], { failsUntil: 2 });
  await stage.subscribe('slow', ['follower.*'], { delayMs: 250 });
  // A rate far above what is published, and a filter that every event fulfils: nothing is left out or late because of them.
  const filter = { event: { prefix: 'job.' }, 'data.missing': { exists: false } };
  const limits = { maxPerSecond: 1000, timeoutMs: DELIVERY_TIMEOUT_MS - 500, headers: { 'x-key': 'a value' } };
  await stage.subscribe('limited', ['job.*'], { failsUntil: 1 }, { ...limits, filter });
}

/** Waits until no event is left to be fanned out and no delivery is pending; tells whether that came true. */
export async function isSettled({ database }: Pick<Stage, 'database'>, timeoutMs = PATIENCE_MS): Promise<boolean> {
  const open = `
    select (select count(*) from webhook_service.deliveries where status = 'pending')::int
         + (select count(*) from webhook_service.events where fanned_out_at is null)::int as open`;
  const probe = async () => (await database.query<{ open: number }>(open))[0]?.open === 0;
  return waitFor(probe, { what: 'the last row to settle', timeoutMs, everyMs: 100 }).catch(() => false);
}

/** What has become of everything that was accepted until now. */
export async function verdictOn(stage: Stage): Promise<{ verdict: Verdict; rows: LogRow[] }> {
  const { load, subscribers, ledger, chronicle, database } = stage;
  const rows = await database.query<LogRow>(LOG_ROWS);
  const miscounts = await miscountsOf(database);
  const { accepted } = load;
  return { verdict: verdictOf({ accepted, subscribers, entries: ledger.entries, rows, miscounts, chronicle }), rows };
}

/** What has to be true of every run, whatever has happened in it. */
export const NOTHING_AMISS: Partial<Verdict> = {
  lost: [],
  withoutRow: [],
  neverReceived: [],
  pending: [],
  misnumbered: [],
  miscounts: [],
  forged: [],
  unexplained: [],
};

/** Every delivery that the accepted events call for, as `<name of the subscriber> <id of the event>`. */
export function expectedPairs({ subscribers }: Stage, accepted: readonly { id: string; event: string }[]): string[] {
  return accepted.flatMap(({ id, event }) =>
    subscribers.filter((subscriber) => subscribes(subscriber, event)).map(({ name }) => `${name} ${id}`),
  );
}
