import { v7 } from 'uuid';
import { dataOf } from '../../support/api';
import { JobQueue } from '../../support/job-queue';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { type Service, startService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { publish, subscribe } from '../stage/steps';

const AHEAD_DAYS = 20;
const AHEAD = `interval '${AHEAD_DAYS} days'`;

/** What a clock that is ahead leaves behind: the service is stopped, and times of rows move there. */
const MOVE_AHEAD = [
  `update webhook_service.deliveries set scheduled_at = scheduled_at + ${AHEAD}, leased_until = leased_until + ${AHEAD}
   where status = 'pending'`,
  `update webhook_service.events set accepted_at = accepted_at + ${AHEAD}, leased_until = leased_until + ${AHEAD}
   where fanned_out_at is null`,
  `update webhook_service.queue_positions set holder = 'who is gone', held_until = now() + ${AHEAD}`,
];

describeOnStores('When PostgreSQL’s clock was twenty days ahead, and is right again', (store) => {
  const receiver = useReceiver();
  const settings = () => ({
    ...store.settings(),
    // A retry is still pending when the service stops, and the queue holds a job for it.
    ...{ SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'), RETRY_BASE_DELAY_MS: '86400000', MAX_RETRIES: '1' },
    ...{ MONITORED_QUEUES: 'reports', QUEUE_PREFIX: 'bull' },
  });
  const place = () => ({ redisUrl: store.settings().REDIS_URL, databaseUrl: database.url });
  let database: TestDatabase;
  let service: Service | undefined;

  beforeEach(async () => {
    database = await cloneDatabase();
    service = await startService(settings(), database);
  });
  afterEach(async () => {
    await service?.stop();
    await database.drop();
  });

  async function restartAfterwards(): Promise<Service> {
    await service?.stop();
    for (const statement of MOVE_AHEAD) await database.query(statement);
    service = await startService(settings(), database);
    return service;
  }

  it('delivers what was queued for that time', async () => {
    const [failing, slow] = [receiver.hook({ status: 500 }, {}), receiver.hook()];
    const { api } = service as Service;
    const { id } = await subscribe(api, failing, ['job.started']);
    await publish(api, 'job.started');
    const retry = await waitFor(
      async () => (await dataOf(api.listDeliveries(id, { status: 'pending' }))).find(({ attempt }) => attempt === 2),
      { what: 'a retry that is pending' },
    );
    const { id: slowId } = await subscribe(api, slow, ['job.completed']);
    await service?.stop();
    // An event that nobody has fanned out, and a delivery that waits for a slot.
    const body = JSON.stringify(EXAMPLES['job.completed']);
    await database.query(
      `insert into webhook_service.events (id, name, user_id, body, leased_until) values ($1, 'job.completed', 'admin', $2, now())`,
      [v7(), body],
    );
    const fannedOut = v7();
    await database.query(
      `insert into webhook_service.events (id, name, user_id, body, fanned_out_at) values ($1, 'job.completed', 'admin', $2, now())`,
      [fannedOut, body],
    );
    await database.query(
      `insert into webhook_service.deliveries
         (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until, parked)
       values ($1, $2, 'admin', $3, 'job.completed', '', 1, 'event', 'pending', now(), now(), true)`,
      [v7(), slowId, fannedOut],
    );
    service = undefined;
    const again = await restartAfterwards();
    const [, call] = await failing.received(2);
    expect(call?.headers).toMatchObject({ 'x-service-attempt': '2', 'x-service-delivery': retry.id });
    await slow.received(2);
    // The job of that time would take a place on the queue until then.
    const queue = JobQueue.open('{send-0}', { ...place(), schema: 'webhook_service_queue' });
    const isGone = async () => (await queue.bull.getJob(retry.id)) === undefined;
    await waitFor(isGone, { what: 'the end of the job' }).finally(() => queue.close());
    const row = await waitFor(
      async () => {
        const read = await dataOf(again.api.readOwnDelivery(retry.id));
        return read.status === 'succeeded' && read;
      },
      { what: 'the outcome of the retry' },
    );
    expect(Math.abs(Date.parse(row.completedAt ?? '') - Date.now())).toBeLessThan(60_000);
  });

  it('gives new events to webhooks that were made in that time', async () => {
    await service?.stop();
    const id = v7({ msecs: Date.now() + AHEAD_DAYS * 86_400_000 });
    await database.query(
      `insert into webhook_service.webhooks (id, user_id, url, events, secret, created_at)
       values ($1, 'admin', 'http://127.0.0.1:9/', '{*}', '', now() + ${AHEAD})`,
      [id],
    );
    service = await startService(settings(), database);
    const isDated = async () =>
      (await database.query('select from webhook_service.webhooks where created_at <= now()')).length > 0;
    await waitFor(isDated, { what: 'the date of the webhook' });
    await publish(service.api, 'job.started');
    await waitFor(async () => (await dataOf((service as Service).api.listDeliveries(id))).length > 0, {
      what: 'its delivery',
    });
  });

  it('reads the queues of others again', async () => {
    const isRead = (what: Service) => waitFor(() => what.logs().includes(':reports from '), { what: 'the monitor' });
    await isRead(service as Service);
    await isRead(await restartAfterwards());
    const queue = JobQueue.open('reports', place());
    try {
      queue.start();
      const jobId = await queue.add('export', { result: 1 });
      await waitFor(
        async () =>
          (await database.query(`select from webhook_service.events where body::json->'data'->>'jobId' = $1`, [jobId]))
            .length > 0,
        { what: 'the events of a job' },
      );
    } finally {
      await queue.close();
    }
  });
});
