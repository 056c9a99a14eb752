import { dataOf } from '../../support/api';
import { JobQueue } from '../../support/job-queue';
import { freePort, useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { scrape, sumOf } from '../stage/metrics';

describe('Events of a monitored queue for a user who is being erased', () => {
  let metricsPort: number;
  let mail: JobQueue;
  beforeAll(async () => {
    metricsPort = await freePort();
  });
  const service = useService(() => ({ MONITORED_QUEUES: 'mail', METRICS_PORT: String(metricsPort) }));
  beforeAll(async () => {
    await waitFor(() => service.logs().includes(':mail from '), { what: 'the monitor' });
    mail = JobQueue.open('mail', { databaseUrl: service.database.url });
    mail.start();
  });
  afterAll(() => mail.close());

  const eventsOf = (jobId: string) =>
    service.database.query("select id from webhook_service.events where body::json->'data'->>'jobId' = $1", [jobId]);

  it('are dropped and counted, and those of others are published', async () => {
    const erasure = await dataOf(service.api.eraseUser('dave'), 202);
    const dropped = await mail.add('send', { userId: 'dave' }, { jobId: 'of-dave' });
    const others = await mail.add('send', { userId: 'erin' }, { jobId: 'of-erin' });
    // It starts, and it completes.
    const count = async () => sumOf(await scrape(metricsPort), 'webhooks_queue_events_dropped_total') === 2;
    await waitFor(count, { what: 'two dropped events' });
    await waitFor(async () => (await eventsOf(others)).length === 2, { what: 'the events of the other job' });
    expect(await eventsOf(dropped)).toEqual([]);
    expect((await dataOf(service.api.readErasure(erasure.id))).status).toBe('running');
  });
});
