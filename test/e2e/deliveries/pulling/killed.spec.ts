import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { type CreatedWebhook, dataOf } from '../../../support/api';
import { capture, spawnFile } from '../../../support/service';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { useFleet } from '../../stage/fleet';
import { publish } from '../../stage/steps';

const EVENTS = 200;
const LEASE_SECONDS = 10;

interface Row {
  id: string;
  eventId: string;
  attempt: number;
  status: string;
  error: string | null;
}

const ROWS = `
  select id, event_id as "eventId", attempt, status, error_code as error from webhook_service.deliveries
  where webhook_id = $1 order by event_id, attempt`;

// A killed consumer's leases last ten seconds.

describeOnStores('Consumers of two APIs and a worker', (store) => {
  const fleet = useFleet({ apis: 2, workers: 1 }, () => ({
    ...store.settings(),
    ...{ MAX_RETRIES: '3', RETRY_BASE_DELAY_MS: '100', PUBLISH_LIMIT_PER_MINUTE: '0', RATE_LIMIT_PER_MINUTE: '0' },
  }));

  interface Consumer {
    child: ChildProcess;
    lines: () => { leased?: string; succeeded?: string; expiresAt: string; eventId: string; attempt: string }[];
  }

  async function startConsumer({ id }: { id: string }, workMs = 100): Promise<Consumer> {
    const { apis } = fleet();
    const token = await dataOf(
      fleet()
        .through(apis[0]!)
        .createToken({ name: 'consumer', scopes: ['messages:pull'] }),
      201,
    );
    const child = spawnFile(join(__dirname, '../../stage/consumer.cjs'), [], {
      SERVICES: apis.map(({ process }) => process.url).join(),
      ...{ TOKEN: token.token, WEBHOOK_ID: id, LEASE_SECONDS: String(LEASE_SECONDS), WORK_MS: String(workMs) },
    });
    const text = capture(child, ['stdout']);
    const lines = () =>
      text()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as ReturnType<Consumer['lines']>[number]);
    return { child, lines };
  }

  it('lose nothing and lease nothing twice, though consumers, an API and the worker are killed', async () => {
    const [api, other] = fleet().apis.map((member) => fleet().through(member));
    const webhook: CreatedWebhook = await dataOf(api!.createWebhook({ kind: 'pull', events: ['job.started'] }), 201);
    // It holds its leases until it is killed.
    const consumers = [await startConsumer(webhook, 600_000)];
    try {
      for (let i = 0; i < EVENTS / 2; i++) await publish(api!, 'job.started');
      await killWhileItHolds(consumers[0]!);
      consumers.push(await startConsumer(webhook), await startConsumer(webhook));
      await fleet().workers[0]!.process.kill();
      for (let i = 0; i < EVENTS / 4; i++) await publish(other!, 'job.started');
      await fleet().complete();
      await fleet().apis[0]!.process.kill();
      for (let i = 0; i < EVENTS / 4; i++) await publish(other!, 'job.started');
      await fleet().complete();
      consumers.push(await startConsumer(webhook));

      const rows = await waitFor(
        async () => {
          const all = await fleet().database.query<Row>(ROWS, [webhook.id]);
          return all.filter(({ status }) => status === 'succeeded').length === EVENTS && all;
        },
        { what: 'a success for each event' },
      );
      expectNothingAmiss(rows, consumers);
    } finally {
      for (const { child } of consumers) child.kill('SIGKILL');
    }
  });

  async function killWhileItHolds({ child, lines }: Consumer): Promise<void> {
    const holds = () => lines().at(-1)?.leased !== undefined;
    await waitFor(holds, { what: 'a consumer with leases', everyMs: 1 });
    child.kill('SIGKILL');
  }

  function expectNothingAmiss(rows: readonly Row[], consumers: readonly Consumer[]): void {
    // Each attempt ended as a success, or as a lease that nobody acknowledged; none waits.
    const ends = new Set(rows.map(({ status, error }) => `${status} ${error}`));
    expect([...ends].sort()).toEqual(['failed timeout', 'succeeded null']);
    const eventIds = new Set(rows.map(({ eventId }) => eventId));
    expect(eventIds.size).toBe(EVENTS);
    for (const id of eventIds) {
      const attempts = rows.filter(({ eventId }) => eventId === id);
      expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, i) => i + 1));
      expect(attempts.map(({ status }) => status === 'succeeded').indexOf(true)).toBe(attempts.length - 1);
    }
    const leases = consumers.flatMap(({ lines }) => lines()).filter(({ leased }) => leased !== undefined);
    expect(new Set(leases.map(({ leased }) => leased)).size).toBe(leases.length);
    const attemptOf = new Map(rows.map(({ id, attempt }) => [id, String(attempt)]));
    expect(leases.filter(({ leased, attempt }) => attemptOf.get(leased!) !== attempt)).toEqual([]);
    const succeeded = new Set(rows.filter(({ status }) => status === 'succeeded').map(({ id }) => id));
    const acknowledged = consumers.flatMap(({ lines }) => lines().flatMap((line) => line.succeeded ?? []));
    expect(acknowledged.filter((id) => !succeeded.has(id))).toEqual([]);
  }
});
