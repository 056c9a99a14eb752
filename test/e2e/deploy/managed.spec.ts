import { randomBytes } from 'node:crypto';
import { administrate, databaseUrl } from '../../support/postgres';
import { Client } from 'pg';
import { useReceiver } from '../../support/receiver';
import { defaultSettings, runCommand, startService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { blocksOf } from '../stage/guides';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

// The role of docs/deploying.md.
const [statements = ''] = blocksOf('Managed PostgreSQL and Redis', 'sql');

describeOnStores('With the role of the guide', (store) => {
  const receiver = useReceiver();
  const name = `webhooks_${randomBytes(4).toString('hex')}`;
  /** A line of the guide, with names of this test. */
  const guideFor = (line: string) => line.replaceAll('webhooks', name);
  let url: string;
  beforeAll(async () => {
    for (const line of statements.split('\n').filter(Boolean)) await administrate(guideFor(line));
    // As careful operators have it: nothing is left to everybody.
    await administrate(`revoke all on database ${name} from public`);
    await asOwner('revoke all on schema public from public');
    url = Object.assign(new URL(databaseUrl(name)), { username: name, password: 'password' }).href;
  });
  afterAll(async () => {
    await administrate(`drop database if exists ${name} with (force)`);
    await administrate(`drop role if exists ${name}`);
  });

  async function asOwner<Row extends object>(sql: string): Promise<Row[]> {
    const client = new Client({ connectionString: databaseUrl(name) });
    await client.connect();
    return client
      .query<Row>(sql)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  }

  it('the service migrates, delivers, retries and follows changes', async () => {
    const settings = { ...defaultSettings(url, `wns_${'a'.repeat(43)}`), ...store.settings() };
    expect(await runCommand(['migrate'], settings)).toMatchObject({ stderr: '', exitCode: 0 });
    const { SECRETS_KEY } = settings;
    const database = { url, query: asOwner, drop: async () => undefined };
    const service = await startService({ SECRETS_KEY, ...store.settings() }, database);
    try {
      const hook = receiver.hook({ status: 500 }, { status: 200 });
      const webhook = await subscribe(service.api, hook, ['job.started']);
      const event = await publish(service.api, 'job.started');
      expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([
        { status: 'failed' },
        { status: 'succeeded' },
      ]);
      expect((await service.api.call('GET', '/api/deliveries?changedAfter=now')).status).toBe(200);
    } finally {
      expect(await service.stop()).toBe(0);
    }
    expect(await runCommand(['rekey'], settings)).toMatchObject({ stderr: '', exitCode: 0 });
    const owned = await asOwner<{ nspname: string }>(
      `select nspname from pg_namespace where nspowner = '${name}'::regrole order by 1`,
    );
    const queue = store.name === 'PostgreSQL' ? ['webhook_service_queue'] : [];
    expect(owned.map(({ nspname }) => nspname)).toEqual(['webhook_service', ...queue]);
    expect(await asOwner('select extname from pg_extension')).toEqual([{ extname: 'plpgsql' }]);
  });
});
