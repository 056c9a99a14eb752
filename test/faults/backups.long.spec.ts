import { miscountsOf } from '../support/miscounts';
import type { Store } from '../support/stores';
import { waitFor } from '../support/wait-for';
import { ChangesFollower } from './stage/changes-follower';
import { type Stage, useStage } from './stage/chaos-stage';
import { LOG_ROWS, type LogRow, type Verdict, verdictOf } from './stage/chaos-verdict';
import { isSettled, NOTHING_AMISS, subscribeEverybody } from './stage/fault-steps';
import { type Backup, PostgresNode } from './stage/postgres-node';
import { print, summaryOf } from './stage/report';
import { describeOnStoreNames } from './stage/store-names';

const PER_SECOND = 40;
const EVENTS_BEFORE = 300;
const EVENTS_AFTER = 200;

interface Taken {
  backup: Backup;
  /** The backup has everything that was accepted before this instant. */
  hasUntil: number;
}

interface Way {
  take: (node: PostgresNode) => Promise<Taken>;
  /** How often a client must read the list again whose cursor is from before the backup, and one whose cursor is from after it. */
  restarts: { early: number; late: number };
}

const WAYS: Record<string, Way> = {
  pg_basebackup: { take: takeBaseBackup, restarts: { early: 0, late: 1 } },
  pg_dump: { take: takeDump, restarts: { early: 1, late: 1 } },
};

for (const [name, way] of Object.entries(WAYS)) {
  describeOnStoreNames(`A backup by ${name} under load`, (store) => restoresBackups(name, way, store));
}

function restoresBackups(name: string, { take, restarts }: Way, store: Store['name']): void {
  let node: PostgresNode;
  let restored: PostgresNode | undefined;
  let followers: ChangesFollower[] = [];
  const stage = useStage(
    () => ({ store, startDatabase: async () => (node = await PostgresNode.start()) }),
    subscribeEverybody,
  );
  afterAll(() => Promise.all(followers.map((follower) => follower.stop())));
  afterAll(() => restored?.stop());

  it('is restored with an empty Redis without a loss, and nothing finished is sent again', async () => {
    const { load, client } = stage();
    const [early, late] = [new ChangesFollower(client), new ChangesFollower(client)] as const;
    followers = [early, late];
    for (const follower of followers) follower.start();
    load.start(PER_SECOND);
    await moreEvents(stage(), EVENTS_BEFORE);
    await early.stop();
    const { backup, hasUntil } = await take(node);
    await moreEvents(stage(), EVENTS_AFTER);
    await load.stop();
    await late.stop();
    await endEverything(stage(), node);

    restored = await backup.start();
    const before = await stateOf(stage(), restored);
    const restoredAt = Date.now();
    await startOn(stage(), restored);
    for (const follower of followers) follower.start();
    await load.burst(20);
    expect(await isSettled({ database: restored })).toBe(true);
    await haveFollowed(restored, followers);
    const { verdict, lost, sentAgain, requests } = await restoredVerdict(stage(), restored, {
      ...before,
      hasUntil,
      restoredAt,
    });
    print(
      [
        `${name} on ${store}: ${load.accepted.length} events accepted, ${lost} of them after the backup`,
        `  restored with ${before.pending} pending deliveries and ${before.open} events to fan out; then ${requests} requests`,
        summaryOf(verdict),
      ].join('\n'),
    );
    expect({ ...verdict, sentAgain }).toMatchObject({ ...NOTHING_AMISS, doubled: [], sentAgain: [] });
    expect(before.pending).toBeGreaterThan(0);
    expect(lost).toBeGreaterThan(0);
    expect({ early: early.restarts, late: late.restarts }).toEqual(restarts);
  });
}

/** Its content is that of the moment at which it ends, a position in the write-ahead log. */
async function takeBaseBackup(node: PostgresNode): Promise<Taken> {
  let isTaken = false;
  const taking = node.baseBackup().finally(() => (isTaken = true));
  const positions: { at: number; lsn: string }[] = [];
  while (!isTaken) {
    const at = Date.now();
    const [row] = await node.query<{ lsn: string }>('select pg_current_wal_insert_lsn()::text as lsn');
    positions.push({ at, lsn: row!.lsn });
  }
  const backup = await taking;
  const hasUntil = positions.filter(({ lsn }) => offsetOf(lsn) <= offsetOf(backup.endLsn)).at(-1)?.at;
  if (!hasUntil) throw new Error('The position of the backup is unknown.');
  return { backup, hasUntil };
}

/** Its content is that of the moment at which it begins. */
async function takeDump(node: PostgresNode): Promise<Taken> {
  const hasUntil = Date.now();
  return { backup: await node.dump(), hasUntil };
}

/** A position in the write-ahead log, such as `0/16B3748`, as a number. */
function offsetOf(lsn: string): bigint {
  const [high = '', low = ''] = lsn.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

async function moreEvents({ load }: Stage, count: number): Promise<void> {
  const enough = load.accepted.length + count;
  await waitFor(() => load.accepted.length >= enough, { what: `${count} more events` });
}

async function endEverything({ api, workers, redis }: Stage, node: PostgresNode): Promise<void> {
  await Promise.all([api, ...workers].map((process) => process.kill()));
  await redis?.kill();
  await node.kill();
}

async function startOn(stage: Stage, database: PostgresNode): Promise<void> {
  stage.postgresNetwork.retarget(database.port);
  await stage.redis?.comeBack('empty');
  await Promise.all([stage.api, ...stage.workers].map((process) => process.start()));
}

interface RestoredState {
  events: Set<string>;
  /** Rows with an outcome, and the events that a webhook has received, as `<webhook> <event>`. */
  finished: Set<string>;
  pending: number;
  open: number;
}

async function stateOf({ subscribers }: Stage, restored: PostgresNode): Promise<RestoredState> {
  const events = await restored.query<{ id: string; open: boolean }>(
    'select id, fanned_out_at is null as open from webhook_service.events',
  );
  const rows = await restored.query<LogRow>(LOG_ROWS);
  const nameOf = new Map(subscribers.map(({ webhookId, name }) => [webhookId, name]));
  const received = rows.filter(({ status }) => status === 'succeeded');
  return {
    events: new Set(events.map(({ id }) => id)),
    finished: new Set([
      ...rows.filter(({ status }) => status !== 'pending').map(({ id }) => id),
      ...received.map(({ webhookId, eventId }) => `${nameOf.get(webhookId)} ${eventId}`),
    ]),
    pending: rows.filter(({ status }) => status === 'pending').length,
    open: events.filter(({ open }) => open).length,
  };
}

async function haveFollowed(restored: PostgresNode, followers: readonly ChangesFollower[]): Promise<void> {
  const rows = await restored.query<LogRow>(LOG_ROWS);
  const hasFollowed = ({ statuses }: ChangesFollower) => rows.every(({ id, status }) => statuses.get(id) === status);
  await waitFor(() => followers.every(hasFollowed), { what: 'clients that have seen every change' });
}

interface Restored extends RestoredState {
  hasUntil: number;
  restoredAt: number;
}

/** Holds what was accepted before the backup, and since the restore, against what was received and the restored log. */
async function restoredVerdict(
  { load, subscribers, ledger, chronicle }: Stage,
  restored: PostgresNode,
  { events, finished, hasUntil, restoredAt }: Restored,
): Promise<{ verdict: Verdict; lost: number; sentAgain: string[]; requests: number }> {
  const [rows, miscounts] = [await restored.query<LogRow>(LOG_ROWS), await miscountsOf(restored)];
  const accepted = load.accepted.filter(
    ({ id, acceptedAt }) => acceptedAt < hasUntil || acceptedAt > restoredAt || events.has(id),
  );
  const since = ledger.entries.filter(({ receivedAt }) => receivedAt > restoredAt);
  const evidence = { accepted, subscribers, rows, miscounts, chronicle };
  // Requests from between the backup and the restore have no rows.
  const { withoutRow, doubled, unexplained } = verdictOf({ ...evidence, entries: since });
  const verdict = { ...verdictOf({ ...evidence, entries: ledger.entries }), withoutRow, doubled, unexplained };
  const sentAgain = since
    .filter(({ to, eventId, deliveryId }) => finished.has(deliveryId) || finished.has(`${to} ${eventId}`))
    .map(({ to, eventId, attempt }) => `${to} ${eventId} attempt ${attempt}`);
  return { verdict, lost: load.accepted.length - accepted.length, sentAgain, requests: since.length };
}
