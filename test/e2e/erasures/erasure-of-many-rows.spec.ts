import { randomBytes } from 'node:crypto';
import { dataOf, type Erasure, pageOf } from '../../support/api';
import { openTransaction } from '../../support/open-transaction';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { type Service, startService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { subscribe } from '../stage/steps';

/** LONG=1 erases 100,000 rows. */
const ROWS = process.env.LONG ? 100_000 : 5000;

/** The id of a seeded row: a UUIDv7 of this moment. */
const ID = `(lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7' || $3 || '8' ||
  lpad(to_hex(i), 15, '0'))::uuid`;

/** Settled deliveries of now. */
const INSERT = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, attempt, trigger, status, url, scheduled_at, leased_until)
  select ${ID}, $1, $2, $1, 'job.started', 1, 'event', 'succeeded', 'https://example.com/', now(), now()
  from generate_series(1, $4::int) as i`;

const newKey = () => randomBytes(32).toString('base64');

describe('Forgetting a user with many rows', () => {
  const receiver = useReceiver();
  const [oldKey, key] = [newKey(), newKey()];
  let database: TestDatabase;
  let service: Service;

  const start = async (keys: string) => {
    service = await startService({ SECRETS_KEY: keys, DELIVERY_TIMEOUT_MS: '1000' }, database);
  };
  beforeAll(async () => {
    database = await cloneDatabase();
    await start(oldKey);
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  const rowsOf = async (user: string) => {
    const [row] = await database.query<{ deliveries: number; events: number }>(
      `select (select count(*)::int from webhook_service.deliveries where user_id = $1) as deliveries,
              (select count(*)::int from webhook_service.events where user_id = $1) as events`,
      [user],
    );
    return row!;
  };
  const seed = (webhook: { id: string }, user: string, mark: string, count: number) =>
    database.query(INSERT, [webhook.id, user, mark, count]);
  const doneWith = ({ id }: Erasure) =>
    waitFor(
      async () => {
        const erasure = await dataOf(service.api.readErasure(id));
        return erasure.status === 'done' && erasure;
      },
      { what: 'the end of the erasure', timeoutMs: 240_000 },
    );

  it('deletes all of them while the user publishes, and none of others', async () => {
    const [alice, bob] = [await service.apiFor('alice'), await service.apiFor('bob')];
    const hook = receiver.hook();
    const [ofAlice, ofBob] = [await subscribe(alice, hook, ['*']), await subscribe(bob, hook, ['*'])];
    await seed(ofAlice, 'alice', 'aaa', ROWS);
    await seed(ofBob, 'bob', 'bbb', 1000);
    let published = 0;
    const publishing = async () => {
      for (;;) {
        const { status } = await alice.publish({ event: 'job.started', data: EXAMPLES['job.started'] });
        if (status !== 202) return status;
        published += 1;
      }
    };
    const publishers = Promise.all([1, 2, 3, 4].map(publishing));
    await waitFor(() => published >= 20, { what: 'events' });
    const erasure = await dataOf(service.api.eraseUser('alice'), 202);
    expect(await publishers).toEqual([401, 401, 401, 401]);
    const { counts } = await doneWith(erasure);
    expect(counts.deliveries).toBeGreaterThanOrEqual(ROWS);
    expect(counts.events).toBe(published);
    expect(await rowsOf('alice')).toEqual({ deliveries: 0, events: 0 });
    expect(await rowsOf('bob')).toMatchObject({ deliveries: 1000 });
  });

  it('continues after its process was killed in the middle, and after a new key of SECRETS_KEY', async () => {
    const carol = await service.apiFor('carol');
    await seed(await subscribe(carol, receiver.hook(), ['*']), 'carol', 'ccc', ROWS);
    const lastRow = `
      select id from webhook_service.deliveries where user_id = 'carol' order by id desc limit 1 for update`;
    const lock = await openTransaction(database, [lastRow, []]);
    const erasure = await dataOf(service.api.eraseUser('carol'), 202);
    await lock.waitedFor(1);
    await service.kill();
    const { deliveries } = await rowsOf('carol');
    expect(deliveries).toBeGreaterThan(0);
    expect(deliveries).toBeLessThan(ROWS);
    await start(`${key},${oldKey}`);
    // The hash is one of the second key now. Until it is found, the lock keeps the erasure from ending.
    expect((await dataOf(service.api.eraseUser('carol'), 202)).id).toBe(erasure.id);
    await lock.end('rollback');
    const { counts } = await doneWith(erasure);
    expect(counts).toMatchObject({ deliveries: ROWS, webhooks: 1, tokens: 1 });
    expect(await rowsOf('carol')).toEqual({ deliveries: 0, events: 0 });

    const again = await dataOf(service.api.eraseUser('carol'), 202);
    const { rows } = await pageOf(service.api.listErasures({ userId: 'carol' }));
    expect(rows.map(({ id }) => id)).toEqual([again.id, erasure.id]);
  });
});
