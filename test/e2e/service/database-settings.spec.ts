import { OWN_SETTINGS } from '../../../src/infrastructure/database/postgres-connection.client';
import { dataOf, pageOf } from '../../support/api';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { runCommand, startService, type Service } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

/** Values of a database that change what statements mean, or how values are written, in turn. */
const HOSTILE: Record<keyof typeof OWN_SETTINGS, readonly string[]> = {
  datestyle: ['German', 'SQL, DMY', 'Postgres, YMD'],
  intervalstyle: ['iso_8601', 'sql_standard', 'postgres_verbose'],
  timezone: ['Asia/Kathmandu', 'America/St_Johns', 'Pacific/Kiritimati'],
  bytea_output: ['escape', 'escape', 'hex'],
  extra_float_digits: ['-15', '0', '-3'],
  standard_conforming_strings: ['off', 'off', 'on'],
  array_nulls: ['off', 'on', 'off'],
  transform_null_equals: ['on', 'on', 'off'],
  quote_all_identifiers: ['on', 'off', 'on'],
  default_transaction_isolation: ['serializable', 'repeatable read', 'read uncommitted'],
  default_transaction_deferrable: ['on', 'off', 'on'],
  exit_on_error: ['on', 'off', 'on'],
};

describeOnStores('A database whose settings are', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let service: Service;
  afterEach(async () => {
    await service.stop();
    await database.drop();
  });

  it.each([0, 1, 2])('others than the defaults (%i) does not change the life of an event', async (turn) => {
    database = await cloneDatabase();
    const name = new URL(database.url).pathname.slice(1);
    for (const [setting, values] of Object.entries(HOSTILE))
      await database.query(`alter database "${name}" set ${setting} = '${values[turn]}'`);
    service = await startService(store.settings(), database);
    const settings = { DATABASE_URL: database.url, SECRETS_KEY: Buffer.alloc(32).toString('base64') };
    const words = [
      'token',
      'create',
      '--user',
      'ada',
      '--scopes',
      'webhooks:read,webhooks:write,deliveries:read,events:publish',
    ];
    const made = await runCommand([...words, '--expires', '2099-01-15T09:30:00Z'], settings);
    const api = service.api.withToken(made.stdout.trim());
    expect(await dataOf(api.me())).toMatchObject({ userId: 'ada', expiresAt: '2099-01-15T09:30:00.000Z' });
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started'], {
      maxPerSecond: 12.345678901234567,
      secret: 'a secret \\ of mine',
    });
    expect((await pageOf(api.listWebhooks())).rows).toMatchObject([
      { id: webhook.id, maxPerSecond: 12.345678901234567 },
    ]);
    const rotated = await dataOf(api.rotateSecret(webhook.id, {}));
    expect(Date.parse(rotated.previousSecretExpiresAt) - Date.now()).toBeGreaterThan(80_000_000);
    const event = await publish(api, 'job.started', { idempotencyKey: 'one' });
    expect((await publish(api, 'job.started', { idempotencyKey: 'one' })).id).toBe(event.id);
    const [delivery] = await settledDeliveries(api, webhook, event);
    expect(delivery).toMatchObject({ status: 'succeeded', eventId: event.id });
    expect(delivery!.createdAt >= event.createdAt).toBe(true);
    expect((await pageOf(api.listDeliveries(webhook.id, { since: event.createdAt }))).rows).toHaveLength(1);
    await dataOf(api.redeliver(webhook.id, delivery!.id), 202);
    await hook.received(2);
    await dataOf(api.updateWebhook(webhook.id, { active: false }));
    await dataOf(api.deleteWebhook(webhook.id));
  });
});
