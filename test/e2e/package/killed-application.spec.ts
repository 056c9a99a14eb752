import { randomInt } from 'node:crypto';
import { dataOf } from '../../support/api';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { SeededRandom } from '../../support/seeded-random';
import { capture, endProcess, hasExited, type Settings, spawnFile, useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { buildHost } from '../stage/host';

/** Kills of each transport. */
const KILLS = process.env.LONG === '1' ? 200 : 20;
/** The applications that pay orders at the same time. */
const AT_ONCE = 2;
const seed = Number(process.env.SEED ?? randomInt(2 ** 31));

jest.setTimeout(1_200_000);

describe(`An application that is killed again and again (SEED=${seed})`, () => {
  const host = buildHost('publishing-application');
  afterAll(() => host.remove());
  const service = useService();
  const receiver = useReceiver();
  const random = new SeededRandom(seed);
  let own: TestDatabase;
  beforeAll(async () => {
    own = await cloneDatabase();
  });
  afterAll(() => own.drop());

  /** Starts an application, and kills it when it has paid some orders. */
  async function killedAfter(paid: number, settings: Settings): Promise<void> {
    const child = spawnFile(host.entry, [], settings);
    const printed = capture(child, ['stdout']);
    const errors = capture(child, ['stderr']);
    const count = () => printed().match(/^paid$/gm)?.length ?? 0;
    await waitFor(() => hasExited(child) || count() >= paid, { what: 'paid orders', everyMs: 5 });
    expect({ exited: hasExited(child), errors: errors() }).toEqual({ exited: false, errors: '' });
    await endProcess(child, 'SIGKILL');
  }

  /** Nobody relays any more what the last one has left: an application does that pays nothing. */
  async function relayTheRest(settings: Settings): Promise<void> {
    // What a killed relay had claimed is free again after a minute.
    await own.query("update webhook_outbox set claimed_until = '-infinity'");
    const child = spawnFile(host.entry, [], { ...settings, FIRST: '1', COUNT: '0' });
    const rows = () => own.query('select 1 from webhook_outbox limit 1');
    await waitFor(async () => (await rows()).length === 0, { what: 'an empty outbox' });
    await endProcess(child, 'SIGKILL');
  }

  it.each(['database', 'http'] as const)('loses and doubles nothing with the transport %s', async (kind) => {
    const database = kind === 'database' ? service.database : own;
    const token = await service.createToken('shop', ['events:publish', 'events:broadcast', 'event-types:manage']);
    const settings =
      kind === 'database'
        ? { DATABASE_URL: database.url }
        : { DATABASE_URL: database.url, SERVICE_URL: service.url, SERVICE_TOKEN: token };
    const hook = receiver.hook();
    const { id } = await dataOf((await service.apiFor('alice')).createWebhook({ url: hook.url, events: ['*'] }), 201);
    await database.query('create table orders (id bigint primary key)');
    let started = 0;
    const killOne = async (): Promise<void> => {
      while (started < KILLS) {
        started += 1;
        await killedAfter(random.between(1, 30), { ...settings, FIRST: String(started * 1_000_000) });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, killOne));
    if (kind === 'http') await relayTheRest(settings);
    const orders = await database.query<{ id: string }>('select id from orders');
    await hook.received(orders.length);
    const calls = hook.calls.map(({ headers, body }) => ({
      webhookId: String(headers['webhook-id']),
      orderId: String((JSON.parse(body.toString()) as { data: { orderId: number } }).data.orderId),
    }));
    const idsOf = new Map<string, Set<string>>();
    for (const { webhookId, orderId } of calls) idsOf.set(orderId, (idsOf.get(orderId) ?? new Set()).add(webhookId));
    expect([...idsOf.keys()].sort()).toEqual(orders.map((order) => order.id).sort());
    expect([...idsOf.values()].filter((ids) => ids.size > 1)).toEqual([]);
    await dataOf((await service.apiFor('alice')).deleteWebhook(id));
  });
});
