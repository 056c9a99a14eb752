import type { ServiceProcess } from '../support/service-process';
import { waitFor } from '../support/wait-for';
import { ChangesFollower } from './stage/changes-follower';
import { type Stage, useStage } from './stage/chaos-stage';
import { isSettled, NOTHING_AMISS, subscribeEverybody, verdictOn } from './stage/fault-steps';
import { PostgresFailover } from './stage/postgres-failover';
import { availabilityOf, print, publishingOf, summaryOf } from './stage/report';
import { describeOnStoreNames } from './stage/store-names';

const PER_SECOND = 40;
const EVENTS_BEFORE = 200;
/** Promised: from the promotion until every API process has accepted an event. */
const GOES_ON_WITHIN_MS = 5000;

/** Operators promote before they move the address, or after. */
const ORDERS = ['promotes, then moves', 'moves, then promotes', 'promotes, then moves'] as const;

describeOnStoreNames('A PostgreSQL that fails over to a synchronous standby', (store) => {
  let pair: PostgresFailover;
  let processes: ServiceProcess[];
  let follower: ChangesFollower | undefined;
  const stage = useStage(
    () => ({ store, startDatabase: async () => (pair = await PostgresFailover.start()) }),
    async (stage) => {
      await subscribeEverybody(stage);
      processes = [stage.api, await stage.addApi('api-2'), ...stage.workers];
    },
  );
  afterAll(() => follower?.stop());

  it(`${ORDERS.length} times under load loses nothing, and publishing goes on within 5 s`, async () => {
    const { load, client, chronicle } = stage();
    const changes = (follower = new ChangesFollower(client));
    changes.start();
    load.start(PER_SECOND);
    const goesOnMs: number[][] = [];
    for (const order of ORDERS) goesOnMs.push(await failOver(stage(), pair, order));
    const enough = load.accepted.length + EVENTS_BEFORE;
    await waitFor(() => load.accepted.length >= enough, { what: 'events after the last failover' });
    await load.stop();
    expect(await isSettled(stage())).toBe(true);

    const { verdict, rows } = await verdictOn(stage());
    const hasFollowed = () => rows.every(({ id, status }) => changes.statuses.get(id) === status);
    await waitFor(hasFollowed, { what: 'a client that has seen every change' });
    const availability = availabilityOf(load.publications, chronicle);
    const { length: accepted } = load.accepted;
    print(
      [
        `${ORDERS.length} failovers on ${store}, ${accepted} events accepted at ${PER_SECOND}/s`,
        summaryOf(verdict),
        publishingOf(availability),
        `  published again ${goesOnMs.map((each) => each.join(' and ')).join(', ')} ms after the promotion`,
        `  the client that follows changes read the list again ${changes.restarts} times`,
      ].join('\n'),
    );
    expect({ ...verdict, refused: availability.refused }).toMatchObject({
      ...NOTHING_AMISS,
      unscripted: [],
      refused: [],
    });
    expect(verdict.doubled.length).toBeLessThanOrEqual(verdict.inFlight);
    expect(goesOnMs.flat().filter((ms) => ms > GOES_ON_WITHIN_MS)).toEqual([]);
    // Each new primary begins another timeline.
    expect(changes.restarts).toBeGreaterThanOrEqual(ORDERS.length);
    expect(processes.filter((process) => !process.runs())).toEqual([]);
  });
});

/** Returns how long after the promotion each API process accepted its first event, in milliseconds. */
async function failOver(stage: Stage, pair: PostgresFailover, order: (typeof ORDERS)[number]): Promise<number[]> {
  const { load, chronicle } = stage;
  const enough = load.accepted.length + EVENTS_BEFORE;
  await waitFor(() => load.accepted.length >= enough, { what: 'events before a failover' });
  const isBack = [chronicle.tear('PostgreSQL'), chronicle.absence('postgres')];
  await pair.killPrimary();
  if (order === 'moves, then promotes') {
    const movedAt = Date.now();
    await moveAddress(stage, pair.standbyPort);
    const isRefused = () => firstAnswers(stage, movedAt, (status) => status === 503).every((at) => at !== undefined);
    await waitFor(isRefused, { what: 'publications that are refused on a standby' });
  }
  await pair.promote();
  const promotedAt = Date.now();
  if (order === 'promotes, then moves') await moveAddress(stage, pair.port);
  const firsts = () => firstAnswers(stage, promotedAt, (status) => status === 202);
  await waitFor(() => firsts().every((at) => at !== undefined), { what: 'events that are accepted again' });
  for (const each of isBack) each();
  await pair.addStandby();
  return firsts().map((at) => (at ?? Infinity) - promotedAt);
}

/** When each API process gave its first such answer after an instant. */
function firstAnswers(
  { load }: Stage,
  after: number,
  isSuch: (status: number | null) => boolean,
): (number | undefined)[] {
  return load.clients.map(
    (_, i) =>
      load.publications.find(({ client, answeredAt, status }) => client === i && answeredAt >= after && isSuch(status))
        ?.answeredAt,
  );
}

/** The old connections end, as those to an address that another machine has taken. */
async function moveAddress({ postgresNetwork }: Stage, port: number): Promise<void> {
  postgresNetwork.retarget(port);
  await postgresNetwork.cut();
  await postgresNetwork.pass();
}
