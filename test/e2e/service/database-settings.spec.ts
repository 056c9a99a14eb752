import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { database as onDatabase, EventsService } from 'webhook-notification/nest';
import { OWN_SETTINGS } from '../../../src/infrastructure/database/postgres-connection.client';
import { type Api, dataOf, pageOf } from '../../support/api';
import { administrate, cloneDatabase, restoreDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { runCommand, startService, type Service } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { EXAMPLES } from '../stage/examples';
import { fannedOut, publish, settledDeliveries, subscribe } from '../stage/steps';

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
  gin_fuzzy_search_limit: ['1', '2', '1'],
};

/** Values that change nothing that the service relies on, but might. */
const UNUSUAL: Record<string, string> = {
  search_path: 'nowhere',
  client_encoding: 'LATIN1',
  client_min_messages: 'debug1',
  backslash_quote: 'on',
  check_function_bodies: 'off',
  row_security: 'off',
  idle_session_timeout: '1min',
  synchronize_seqscans: 'on',
  xmlbinary: 'hex',
};

/** Settings of the other groups that may change results: only what is in no list here needs a thought. */
const OF_THE_ADMINISTRATOR = [
  // Limits, which are kept: a statement or a transaction that they end fails, and is repeated.
  ...['idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout', 'transaction_timeout'],
  // The start says what to do about it, and a failover is noticed by it.
  'default_transaction_read_only',
  // Where and how tables are stored, and when they are vacuumed.
  ...['default_table_access_method', 'default_tablespace', 'default_toast_compression', 'temp_tablespaces'],
  ...['gin_pending_list_limit', 'vacuum_failsafe_age', 'vacuum_freeze_min_age', 'vacuum_freeze_table_age'],
  ...['vacuum_multixact_failsafe_age', 'vacuum_multixact_freeze_min_age', 'vacuum_multixact_freeze_table_age'],
  // Used by no statement: money, names of days, text search, locales, XML, warnings, roles and large objects.
  ...['lc_monetary', 'lc_numeric', 'lc_time', 'default_text_search_config', 'icu_validation_level', 'xmloption'],
  ...['escape_string_warning', 'createrole_self_grant'],
  // Of one transaction, or of statements that the service has not: views and foreign tables.
  ...['transaction_deferrable', 'transaction_isolation', 'transaction_read_only', 'restrict_nonsystem_relation_kind'],
  // Each set of abbreviations of time zones contains the default one.
  ...['timezone_abbreviations', 'local_preload_libraries'],
];

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

/** Where settings are stored: of a database, of a role, and of both. */
const SCOPES: ((role: string, name: string) => string)[] = [
  (_, name) => `alter database ${name} set`,
  (role) => `alter role ${role} set`,
  (role, name) => `alter role ${role} in database ${name} set`,
];

describeOnStores('A database whose settings are', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let service: Service;
  let role: string;
  afterEach(async () => {
    await service.stop();
    await database.drop();
    await administrate(`drop role ${role}`);
  });

  it.each(SCOPES.map((alter, turn) => [alter('a role', 'a database'), turn, alter] as const))(
    'others than the defaults by %s does not change the life of an event',
    async (_, turn, alter) => {
      // Empty: migrations run with these settings, too.
      const empty = await restoreDatabase('select 1');
      const url = new URL(empty.url);
      role = `role_${randomBytes(6).toString('hex')}`;
      [url.username, url.password] = [role, 'right'];
      database = { ...empty, url: url.href };
      await administrate(`create role ${role} login superuser password 'right'`);
      const values = {
        ...UNUSUAL,
        ...Object.fromEntries(Object.entries(HOSTILE).map(([name, all]) => [name, all[turn]])),
      };
      for (const [setting, value] of Object.entries(values))
        await administrate(`${alter(role, url.pathname.slice(1))} ${setting} = '${value}'`);
      service = await startService({ ...store.settings(), SECRETS_KEY }, database);
      const api = await madeByCommands();
      const webhook = await lifeOfAnEvent(api);
      await publishedByAnApplication(api);
      await dataOf(api.updateWebhook(webhook.id, { active: false }));
      await dataOf(api.deleteWebhook(webhook.id));
    },
  );

  /** A token of the commands, which also renew the secrets. */
  async function madeByCommands(): Promise<Api> {
    const settings = { DATABASE_URL: database.url, SECRETS_KEY };
    const scopes = 'webhooks:read,webhooks:write,deliveries:read,events:publish';
    const words = ['token', 'create', '--user', 'ada', '--scopes', scopes, '--expires', '2099-01-15T09:30:00Z'];
    const made = await runCommand(words, settings);
    const api = service.api.withToken(made.stdout.trim());
    expect(await dataOf(api.me())).toMatchObject({ userId: 'ada', expiresAt: '2099-01-15T09:30:00.000Z' });
    await subscribe(api, receiver.hook(), ['operation.failed']);
    expect((await runCommand(['rekey'], settings)).stdout).toBe('Re-encrypted: 0. Already under the first key: 1.\n');
    expect((await runCommand(['console-link', '--user', 'ada'], settings)).exitCode).toBe(0);
    return api;
  }

  async function lifeOfAnEvent(api: Api) {
    const hook = receiver.hook();
    const fields = { maxPerSecond: 12.345678901234567, secret: 'a secret \\ of mine' };
    const webhook = await subscribe(api, hook, ['job.started'], fields);
    for (const other of [receiver.hook(), receiver.hook()]) await subscribe(api, other, ['job.started']);
    expect((await pageOf(api.listWebhooks())).rows.find(({ id }) => id === webhook.id)?.maxPerSecond).toBe(
      12.345678901234567,
    );
    const rotated = await dataOf(api.rotateSecret(webhook.id, {}));
    expect(Date.parse(rotated.previousSecretExpiresAt!) - Date.now()).toBeGreaterThan(80_000_000);
    const event = await publish(api, 'job.started', { idempotencyKey: 'one' });
    expect((await publish(api, 'job.started', { idempotencyKey: 'one' })).id).toBe(event.id);
    const [delivery] = await settledDeliveries(api, webhook, event);
    expect(delivery).toMatchObject({ status: 'succeeded', eventId: event.id });
    expect(delivery!.createdAt >= event.createdAt).toBe(true);
    expect((await pageOf(api.listDeliveries(webhook.id, { since: event.createdAt }))).rows).toHaveLength(1);
    await fannedOut(api, event);
    expect((await dataOf(api.readEvent(event.id))).deliveries).toHaveLength(3);
    await dataOf(api.redeliver(webhook.id, delivery!.id), 202);
    await hook.received(2);
    return webhook;
  }

  /** The application's own connections have the settings of the role, and nobody sets others for them. */
  async function publishedByAnApplication(api: Api): Promise<void> {
    const hook = receiver.hook();
    await subscribe(api, hook, ['job.completed']);
    const pool = new Pool({ connectionString: database.url, max: 2 });
    pool.on('error', () => undefined);
    try {
      const events = new EventsService({ application: 'shop', transport: onDatabase({ connection: pool }) });
      const publication = { userId: 'ada', idempotencyKey: 'a \\ key' };
      const { id, createdAt } = await events.publish('job.completed', EXAMPLES['job.completed'], publication);
      expect((await events.publish('job.completed', EXAMPLES['job.completed'], publication)).id).toBe(id);
      expect(Math.abs(createdAt.getTime() - Date.now())).toBeLessThan(3_600_000);
      const [call] = await hook.received(1);
      const body = { id, createdAt: createdAt.toISOString(), data: EXAMPLES['job.completed'] };
      expect(JSON.parse(call!.body.toString())).toMatchObject(body);
    } finally {
      await pool.end();
    }
  }
});

describeOnStores('A socket in DATABASE_URL', (store) => {
  const receiver = useReceiver();

  it('serves the life of an event, and commands', async () => {
    const database = await cloneDatabase();
    const { hostname, port, pathname, username, password } = new URL(database.url);
    const folder = mkdtempSync(join(tmpdir(), 'socket-'));
    const server = createServer((socket) => {
      const onward = connect(Number(port), hostname);
      for (const each of [socket, onward]) each.on('error', () => undefined);
      socket.pipe(onward).pipe(socket);
    }).listen(join(folder, '.s.PGSQL.5432'));
    const url = `postgres://${username}:${password}@${pathname}?host=${folder}`;
    const service = await startService({ ...store.settings(), SECRETS_KEY, DATABASE_URL: url }, database);
    try {
      const webhook = await subscribe(service.api, receiver.hook(), ['job.started']);
      const event = await publish(service.api, 'job.started');
      expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([{ status: 'succeeded' }]);
      const { stdout } = await runCommand(['rekey'], { DATABASE_URL: url, SECRETS_KEY });
      expect(stdout).toBe('Re-encrypted: 0. Already under the first key: 1.\n');
    } finally {
      await service.stop();
      server.close();
      await database.drop();
      rmSync(folder, { recursive: true });
    }
  });
});

describe('The settings of a session that may change results', () => {
  it('are set by the service, tried above, or left to the administrator', async () => {
    const database = await restoreDatabase('select 1');
    const rows = await database.query<{ name: string }>(
      `select lower(name) as name from pg_settings where context = 'user'
       and category ~ '^(Client Connection Defaults|Version and Platform|Error Handling)'`,
    );
    await database.drop();
    const known = [...Object.keys(HOSTILE), ...Object.keys(UNUSUAL), ...OF_THE_ADMINISTRATOR];
    expect(rows.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  });
});
