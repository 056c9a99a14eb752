import { randomUUID } from 'node:crypto';
import { type Api, dataOf, errorOf, exchange, type PublishedEvent } from '../../support/api';
import { type Member, useFleet } from '../stage/fleet';
import { type Hook, useReceiver } from '../../support/receiver';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { deleteWebhooks, fannedOut, publish, subscribe } from '../stage/steps';

const EVENTS = 120;
const PUBLISHERS = 8;
const SUBSCRIBERS = 3;
/** So few slots that no two workers can hold all that is under way. */
const SETTINGS = { DELIVERY_CONCURRENCY: '8', DELIVERY_TIMEOUT_MS: '60000' };

// The first test alone takes some 10 s.

/** What came to the hook, by event id. */
const arrivedAt = (hook: Hook): string[] => hook.calls.map(({ headers }) => String(headers['webhook-id'])).sort();
const idsOf = (events: readonly { id: string }[]): string[] => events.map(({ id }) => id).sort();

describeOnStores('Two APIs and three workers', (store) => {
  const fleet = useFleet({ apis: 2, workers: 3 }, () => ({ ...store.settings(), ...SETTINGS }));
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(apis()[0]));

  const apis = () => fleet().apis.map((api) => fleet().through(api)) as [Api, Api];

  /** Publishes through one API and the other in turns, several at a time, each event under a key of its own. */
  async function publishAlternately(count: number): Promise<PublishedEvent[]> {
    const published: PublishedEvent[] = [];
    const publishers = Array.from({ length: PUBLISHERS }, async (_, first) => {
      for (let i = first; i < count; i += PUBLISHERS) {
        published[i] = await publish(apis()[i % 2]!, 'job.started', { idempotencyKey: randomUUID() });
      }
    });
    await Promise.all(publishers);
    return published;
  }

  /** Waits until the log says of every delivery of these events that its first attempt succeeded. */
  async function allSucceed(eventIds: readonly string[], count: number): Promise<void> {
    const succeeded = `select count(*)::int as count from webhook_service.deliveries
                       where event_id = any($1) and status = 'succeeded' and attempt = 1`;
    const isDone = async () => (await fleet().database.query(succeeded, [eventIds]))[0]?.count === count;
    // What the worker that left had not begun is taken up ten seconds later.
    await waitFor(isDone, { what: `${count} rows that say succeeded` });
  }

  it('deliver each event once to each webhook, every worker a part, while one of them is told to end', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const hooks = Array.from({ length: SUBSCRIBERS }, () => receiver.hook({ after: held }));
    const webhooks = await Promise.all(hooks.map((hook, i) => subscribe(apis()[i % 2]!, hook, ['job.*'])));
    const publishing = publishAlternately(EVENTS);
    try {
      const { workers } = fleet();
      const allHold = async () => {
        const inFlight = await Promise.all(workers.map((worker) => worker.metric('webhooks_attempts_in_flight')));
        return inFlight.every((count) => count > 0);
      };
      await waitFor(allHold, { what: 'an attempt of each worker' });
      const [leaving] = workers as [Member];
      const ending = leaving.process.end();
      await waitFor(() => isDraining(leaving), { what: 'the end of its readiness' });
      release();
      expect((await ending).exitCode).toBe(0);
      const expected = idsOf(await publishing);
      await allSucceed(expected, EVENTS * SUBSCRIBERS);

      expect(hooks.map(arrivedAt)).toEqual(webhooks.map(() => expected));
      const made = () =>
        workers.map((worker) => worker.attempts().filter(({ eventId }) => expected.includes(eventId)).length);
      // A line is printed after its row is written.
      const isTold = () => made().reduce((sum, count) => sum + count, 0) >= EVENTS * SUBSCRIBERS;
      await waitFor(isTold, { what: 'the last lines of the workers' });
      expect(made().filter((count) => count === 0)).toEqual([]);
      expect(made().reduce((sum, count) => sum + count, 0)).toBe(EVENTS * SUBSCRIBERS);
      for (const api of fleet().apis) {
        expect(await api.metric('webhooks_attempt_duration_seconds_count')).toBe(0);
        expect(api.attempts()).toEqual([]);
      }
    } finally {
      release();
      await publishing;
    }
  });

  it('make one event of a key that comes through both APIs at once', async () => {
    const hook = receiver.hook();
    await subscribe(apis()[0], hook, ['job.started']);
    const twins = Array.from({ length: 20 }, async () => {
      const body = { event: 'job.started', data: EXAMPLES['job.started'], idempotencyKey: randomUUID() };
      return Promise.all(apis().map((api) => dataOf(api.publish(body), 202)));
    });
    const pairs = await Promise.all(twins);
    expect(pairs.filter(([one, other]) => one!.id !== other!.id)).toEqual([]);
    expect(pairs.filter(([one, other]) => one!.duplicate === other!.duplicate)).toEqual([]);
    const last = await publish(apis()[1], 'job.started');
    const expected = idsOf([...pairs.map(([one]) => one!), last]);
    await waitFor(() => arrivedAt(hook).length >= expected.length, { what: 'all of them' });
    expect(arrivedAt(hook)).toEqual(expected);
  });

  it('all know at once what was changed through one API', async () => {
    const [old, current] = [receiver.hook(), receiver.hook()];
    const [one, other] = apis();
    const webhook = await subscribe(one, old, ['job.started']);
    const first = await publish(other, 'job.started');
    await old.received(1);
    await dataOf(one.updateWebhook(webhook.id, { url: current.url, description: 'moved' }));
    expect(await dataOf(other.readWebhook(webhook.id))).toMatchObject({ url: current.url, description: 'moved' });
    const moved = await publishAlternately(30);
    await current.received(30);
    expect([arrivedAt(old), arrivedAt(current)]).toEqual([[first.id], idsOf(moved)]);

    await dataOf(other.updateWebhook(webhook.id, { active: false }));
    const unsent = await publish(one, 'job.started');
    await fannedOut(one, unsent);
    expect((await dataOf(one.readEvent(unsent.id))).deliveries).toEqual([]);
    await dataOf(other.deleteWebhook(webhook.id));
    expect(await errorOf(one.readWebhook(webhook.id), 404)).toMatch(/webhook/i);
  });

  it('keep to their roles: a worker answers for its health, and for nothing else', async () => {
    for (const { process } of fleet().workers) {
      const statusOf = async (path: string) => (await exchange(process.url, 'GET', path)).status;
      expect(await Promise.all(['/health/live', '/health/ready'].map(statusOf))).toEqual([200, 200]);
      expect(await Promise.all(['/api/me', '/api/webhooks', '/docs', '/metrics'].map(statusOf))).toEqual(
        Array.from({ length: 4 }, () => 404),
      );
    }
    for (const { process } of fleet().apis) expect((await process.ready()).status).toBe(200);
  });
});

function isDraining({ process }: Member): Promise<boolean> {
  return exchange(process.url, 'GET', '/health/ready').then(
    ({ status }) => status === 503,
    () => true,
  );
}
