import { v7 } from 'uuid';
import { dayPartitions } from '../../src/infrastructure/database/partitions';
import { faultLasts } from '../support/chronicle';
import type { Verdict } from './stage/chaos-verdict';
import { type Stage, useStage } from './stage/chaos-stage';
import { expectedPairs, isSettled, NOTHING_AMISS, subscribeEverybody, verdictOn } from './stage/fault-steps';
import type { Script } from './stage/ledger';
import { PostgresNode } from './stage/postgres-node';
import { print, summaryOf } from './stage/report';
import { type Sample, takeSample, trendsOf, trendTable } from './stage/soak-samples';
import { SoakUser } from './stage/soak-user';
import { describeOnStoreNames } from './stage/store-names';
import { DAY_MS } from '../../src/infrastructure/config/durations';

const MINUTES = Number(process.env.SOAK_MINUTES) || 30;
const PER_SECOND = Number(process.env.SOAK_PER_SECOND) || 10;
const SAMPLES = 50;
/** Past the default retention. */
const OLD_DAYS = [-34, -33];
const OLD_ROWS = 20_000;

const OLD_ROW = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until, request_body)
  select overlay($1 placing lpad(to_hex(n), 12, '0') from 25)::uuid, gen_random_uuid(), 'someone', $1::uuid, 'job.started', 'http://127.0.0.1/', 1,
         'event', 'succeeded', now(), now(), repeat('x', 200)
  from generate_series(1, ${OLD_ROWS}) as n`;

describeOnStoreNames(`A load of ${MINUTES} minutes`, (store) => {
  const unreliable: Script = { failsUntil: 0 };
  let user: SoakUser | undefined;
  const stage = useStage(
    () => ({ store, startDatabase: () => PostgresNode.start(), settings: { LOG_LEVEL: 'warn' } }),
    async (stage) => {
      await subscribeEverybody(stage);
      await stage.subscribe('filtered', ['job.*'], {}, { filter: { event: 'job.completed' } });
      stage.subscribers.push({ ...stage.subscribers.pop()!, events: ['job.completed'] });
      await stage.subscribe('cloudevents', ['job.*'], {}, { format: 'cloudevents' });
      await stage.subscribe('slack', ['follower.*'], {}, { format: 'slack' });
      await stage.subscribe('unreliable', ['job.*'], unreliable);
      await stage.subscribe('paused', ['*']);
      await addOldDays(stage);
    },
  );

  afterAll(() => user?.stop());

  it(
    'leaves nothing behind: not in memory, connections or files, and no event',
    async () => {
      user = new SoakUser(stage(), unreliable);
      stage().load.start(PER_SECOND);
      user.start();
      // Each start of a worker drops a day.
      for (const worker of stage().workers) {
        expect((await worker.end()).exitCode).toBe(0);
        await worker.start();
      }
      const samples = await sampled(stage());
      await stage().load.stop();
      await user.stop();
      await user.repair();
      expect(await isSettled(stage())).toBe(true);

      const trends = trendsOf(samples);
      const verdict = withoutRecovered(stage(), (await verdictOn(stage())).verdict);
      print(
        [
          `${MINUTES} minutes on ${store}: ${stage().load.accepted.length} events at ${PER_SECOND}/s, ${user.steps} other requests`,
          trendTable(trends),
          summaryOf(verdict),
        ].join('\n'),
      );
      const refused = stage().load.publications.filter(({ status }) => status !== 202);
      const grown = trends.filter(({ late, atMost }) => atMost !== null && !(late <= atMost));
      const [undelivered, oldDays] = [notDelivered(stage()), await oldDaysOf(stage())];
      const { complaints } = user;
      expect({ ...verdict, undelivered, refused, complaints, grown, oldDays }).toMatchObject({
        ...{ ...NOTHING_AMISS, doubled: [], unscripted: [], undelivered: [], refused: [], complaints: [] },
        ...{ grown: [], oldDays: [] },
      });
    },
    (MINUTES + 60) * 60_000,
  );
});

async function sampled(stage: Stage): Promise<Sample[]> {
  const samples: Sample[] = [];
  const startedAt = Date.now();
  while (samples.length < SAMPLES) {
    const dueAt = startedAt + ((samples.length + 1) / SAMPLES) * MINUTES * 60_000;
    await faultLasts(Math.max(0, dueAt - Date.now()));
    samples.push(await takeSample(stage));
  }
  return samples;
}

/** Expected deliveries that no receiver has accepted. */
function notDelivered(stage: Stage): string[] {
  const accepted = stage.ledger.entries.filter(({ status }) => status === 200);
  const delivered = new Set(accepted.map(({ to, eventId }) => `${to} ${eventId}`));
  return expectedPairs(stage, stage.load.accepted).filter((pair) => !delivered.has(pair));
}

/** A recovery begins with attempt 1 again: the numbers of recovered webhooks say nothing. */
function withoutRecovered({ subscribers }: Stage, verdict: Verdict): Verdict {
  const recovered = subscribers.filter(({ name }) => ['unreliable', 'paused'].includes(name));
  const isOther = (thread: string) => !recovered.some(({ webhookId }) => thread.startsWith(webhookId));
  return { ...verdict, misnumbered: verdict.misnumbered.filter(isOther) };
}

/** Adds days past retention, and an event of this day, without which the service would doubt the clock. */
async function addOldDays({ database }: Stage): Promise<void> {
  for (const day of OLD_DAYS) {
    for (const table of ['events', 'deliveries'] as const) {
      const [{ name, from, to }] = dayPartitions(table, new Date(), day, day) as [ReturnType<typeof dayPartitions>[0]];
      const bounds = `for values from ('${from}') to ('${to}')`;
      await database.query(`create table webhook_service.${name} partition of webhook_service.${table} ${bounds}`);
    }
    await database.query(OLD_ROW, [v7({ msecs: Date.now() + day * DAY_MS })]);
  }
  await database.query(
    `insert into webhook_service.events (id, name, body, fanned_out_at) values ($1, 'job.started', '{}', now())`,
    [v7({ msecs: Date.now() - DAY_MS / 2 })],
  );
}

/** The days past retention that are still there. */
async function oldDaysOf({ database }: Stage): Promise<string[]> {
  const names = OLD_DAYS.flatMap((day) => dayPartitions('deliveries', new Date(), day, day)).map(({ name }) => name);
  const rows = await database.query<{ name: string }>(
    'select relname as name from pg_class where relname = any($1::text[])',
    [names],
  );
  return rows.map(({ name }) => name);
}
