import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { ordinaryPostgresBin } from '../../../scripts/ordinary-postgres.cjs';
import { dayPartitions } from '../../../src/infrastructure/database/partitions';
import { type Api, dataOf, exchange } from '../../support/api';
import { administrate, databaseUrl } from '../../support/postgres';
import { startPostgres } from '../../support/postgres-server';
import { startProxy } from '../../support/proxy';
import { type Hook, useReceiver } from '../../support/receiver';
import { runCommand, type Service, startService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { describeWhereInstalled } from '../../support/programs';
import { Operator } from '../stage/operator';
import { ask, startPostgresPair } from '../stage/postgres-pair';
import { subscribe } from '../stage/steps';
import { HOUR_MS } from '../../../src/infrastructure/config/durations';

const PAGE = 'docs/runbook.md';
const BACKLOG = 20;
const OWNER = 'alice';
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const EVENTS = Array.from({ length: BACKLOG }, () => ({ event: 'job.started', data: EXAMPLES['job.started'] }));

// pg_dump must be as new as its server, so the server is that of the programs. Their psql knows every server.
const PSQL = join(ordinaryPostgresBin() ?? '/usr/lib/postgresql/15/bin', 'psql');

describeWhereInstalled(PSQL, 'The runbook, during a backlog', () => {
  const receiver = useReceiver();
  let folder: string;
  let stopServer: () => Promise<void>;
  let service: Service;
  let api: Api;
  let operator: Operator;
  let release = (): void => undefined;
  let slow: { id: string };
  let broken: { id: string };
  let hook: Hook;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runbook-'));
    stopServer = await startPostgres(true);
    const settings = { SECRETS_KEY, WEBHOOK_CONCURRENCY: '2', DELIVERY_TIMEOUT_MS: '60000', MAX_RETRIES: '0' };
    service = await startService(settings);
    api = await service.apiFor(OWNER);
    const held = new Promise<void>((resolve) => (release = resolve));
    hook = receiver.hook({ after: held });
    slow = await subscribe(api, hook, ['job.started']);
    broken = await subscribe(api, receiver.hook({ status: 500 }), ['job.started']);
    await dataOf(api.publishBatch({ events: EVENTS }), 202);
    const variables = { OWNER, WEBHOOK: slow.id, WEBHOOKS_URL: service.url, NEW_DATABASE_URL: databaseUrl('restored') };
    operator = new Operator(PAGE, folder, { DATABASE_URL: service.database.url, SECRETS_KEY, ...variables });
    await waitFor(isThere, { what: 'the backlog' });
  });
  afterAll(async () => {
    release();
    await service?.stop();
    await stopServer?.();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Two attempts are in flight, and the other deliveries wait for their slots. */
  const isThere = async () => {
    const [counts] = await service.database.query<{ waiting: number; open: number }>(
      `select (select count(*)::int from webhook_service.deliveries where status = 'pending' and parked) as waiting,
              (select count(*)::int from webhook_service.events where fanned_out_at is null) as open`,
    );
    return counts?.waiting === BACKLOG - 2 && counts.open === 0;
  };
  const pendingOf = async ({ id }: { id: string }) => {
    const sql = `select from webhook_service.deliveries where webhook_id = $1 and status = 'pending'`;
    return (await service.database.query(sql, [id])).length;
  };

  it('asks the process for its health', async () => {
    expect(JSON.parse(await operator.text(''))).toMatchObject({ status: 'ready' });
  });

  it('finds the webhooks whose attempts fail', async () => {
    const areCounted = async () =>
      (await service.database.query('select from webhook_service.attempt_counts')).length > 0;
    await waitFor(areCounted, { what: 'the counts of attempts' });
    const [worst] = await operator.rows('WebhooksAttemptsFail');
    expect(worst).toMatchObject({ user_id: OWNER, webhook_id: broken.id, error_code: 'http_status' });
  });

  it('finds the webhook and the user that own the backlog, and leads to their console', async () => {
    const [webhook] = await operator.rows('Who owns the backlog?');
    const host = expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string;
    expect(webhook).toMatchObject({ user_id: OWNER, webhook_id: slow.id, host, active: 't', pending: String(BACKLOG) });
    const [user] = await operator.rows('Who owns the backlog?');
    expect(user).toMatchObject({ user_id: OWNER, pending: String(BACKLOG) });
    expect(await operator.text('Who owns the backlog?')).toMatch(/^\/console\/webhooks#code=\S+\n$/);
  });

  it('shows what the oldest rows wait for', async () => {
    const waits = await operator.rows('How old is the oldest due row?');
    const counts = Object.fromEntries(waits.map(({ state, count }) => [state, Number(count)]));
    expect(counts).toEqual({ 'deferred: slot': BACKLOG - 2, pending: 2 });
    for (const { oldest } of waits) expect(oldest).toMatch(/^00:/);
    expect(await operator.rows('How old is the oldest due row?')).toEqual([
      { events: '0', oldest: '', unattended: '0' },
    ]);
  });

  it('shows who blocks the statements of the service, and ends it', async () => {
    const blocker = new Client({ connectionString: service.database.url, application_name: 'a migration' });
    const ended = new Promise((resolve) => blocker.on('error', resolve));
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query('lock table webhook_service.webhooks in access exclusive mode');
    // A request gives up after a second; a report waits until psql has looked.
    const report = new Client({ connectionString: service.database.url, application_name: 'a report' });
    await report.connect();
    try {
      const counted = report.query('select from webhook_service.webhooks');
      const waits = `select from pg_stat_activity where application_name = 'a report' and cardinality(pg_blocking_pids(pid)) > 0`;
      await waitFor(async () => (await service.database.query(waits)).length > 0, { what: 'a statement that waits' });
      expect(await api.listWebhooks()).toMatchObject({ success: false, code: 'busy' });
      const sessions = await operator.rows('What does "silent for 8000 ms" mean?');
      const { pid } = sessions.find((session) => session.application_name === 'a migration')!;
      expect(sessions.find((session) => session.application_name === 'a report')?.blocked_by).toContain(pid);
      const killed = await operator.rows('What does "silent for 8000 ms" mean?', { "'1 minute'": "'0 s'" });
      expect(killed).toContainEqual({ pid, application_name: 'a migration', pg_terminate_backend: 't' });
      await ended;
      expect((await counted).rowCount).toBe(2);
      expect(await dataOf(api.listWebhooks())).toHaveLength(2);
    } finally {
      await blocker.end();
      await report.end();
    }
  });

  it('shows every setting of PostgreSQL that it names', async () => {
    const settings = await operator.rows('Which settings should PostgreSQL have?');
    const table = readFileSync(PAGE, 'utf8').matchAll(/^\| (`[^|]*`) +\|/gm);
    const named = [...table].flatMap(([, cell = '']) => cell.replaceAll('`', '').trim().split(', '));
    expect(settings.map(({ name }) => name)).toEqual(named.sort());
  });

  it('shows what fills the disk, and drops the oldest day', async () => {
    const days = (['deliveries', 'events'] as const).map((table) => dayPartitions(table, new Date(), -60, -60)[0]!);
    for (const { name, from, to } of days) {
      const table = name.split('_p')[0];
      await service.database.query(
        `create table webhook_service.${name} partition of webhook_service.${table} for values from ('${from}') to ('${to}')`,
      );
    }
    const section = 'What do I do when the disk fills?';
    const found = await operator.rows(section);
    expect(found.slice(0, 2).map(({ day }) => day)).toEqual(days.map(({ name }) => name));
    expect(found.length).toBeGreaterThan(2);
    expect(Object.keys((await operator.rows(section))[0] ?? {})).toEqual(['wal']);
    await operator.rows(section, { '20260101': days[0]!.name.slice(-8) });
    const names = days.map(({ name }) => `webhook_service.${name}`);
    const left = await service.database.query('select from unnest($1::text[]) as n where to_regclass(n) is not null', [
      names,
    ]);
    expect(left).toEqual([]);
  });

  it('backs the database up before an upgrade, and restores it', async () => {
    const section = 'How do I roll back a version?';
    const [newest] = await operator.rows(section);
    expect(newest!.name).toMatch(/^\w+\d{13}$/);
    await operator.text(section);
    await administrate('create database restored template template0');
    await operator.text(section);
    const restored = new URL(databaseUrl('restored')).href;
    expect((await runCommand(['migrate'], { DATABASE_URL: restored, SECRETS_KEY })).exitCode).toBe(0);
    const pending = `select from webhook_service.deliveries where status = 'pending'`;
    expect(await ask(restored, pending)).toHaveLength(BACKLOG);
  });

  it('slows a webhook down, and stops it', async () => {
    const section = 'How do I pause it?';
    await operator.text(section);
    await operator.text(section);
    expect((await dataOf(api.readWebhook(slow.id))).maxPerSecond).toBe(0.1);
    await operator.text(section);
    expect((await dataOf(api.readWebhook(slow.id))).active).toBe(false);
    expect(await pendingOf(slow)).toBe(0);
  });

  it('sends everything of one hour again: undelivered events, then delivered ones too', async () => {
    const section = 'How do I send everything of one hour again?';
    const hour = {
      '2026-01-15T09:00:00Z': new Date(Date.now() - HOUR_MS).toISOString(),
      '2026-01-15T10:00:00Z': new Date(Date.now() + HOUR_MS).toISOString(),
    };
    release();
    await dataOf(api.updateWebhook(slow.id, { active: true, maxPerSecond: null }));
    await operator.text(section, hour);
    const succeeded = () =>
      service.database.query<{ day: string }>(
        `select right(tableoid::regclass::text, 8) as day from webhook_service.deliveries
         where webhook_id = $1 and status = 'succeeded'`,
        [slow.id],
      );
    const areAllThere = async () => {
      const rows = await succeeded();
      return rows.length >= BACKLOG && (await pendingOf(slow)) === 0 && rows;
    };
    const [{ day }] = (await waitFor(areAllThere, { what: 'the recovered events' })) as [{ day: string }];
    const before = hook.calls.length;
    await operator.text(section, { ...hour, '20260115': day });
    await hook.received(before + BACKLOG);
  });

  it('shows the lag of a standby and promotes it, and the service delivers the backlog', async () => {
    const pair = await startPostgresPair();
    const address = await startProxy(pair.primary.port);
    const url = new URL(pair.primary.url);
    url.port = String(address.port);
    const drop = async () => undefined;
    const database = { url: url.href, query: <Row extends object>(sql: string) => ask<Row>(url.href, sql), drop };
    const moved = await startService({ SECRETS_KEY }, database);
    try {
      let answer = (): void => undefined;
      const held = receiver.hook({ after: new Promise<void>((resolve) => (answer = resolve)) });
      await subscribe(moved.api, held, ['job.started']);
      await dataOf(moved.api.publishBatch({ events: EVENTS }), 202);
      await held.received(1);
      const section = 'How do I fail PostgreSQL over?';
      const [standby] = await operator.rows(section, {}, { DATABASE_URL: pair.primary.url });
      expect(standby).toMatchObject({ state: 'streaming' });
      await pair.primary.stop();
      const promoted = await operator.rows(section, {}, { DATABASE_URL: pair.standby.url });
      expect(promoted).toEqual([{ pg_promote: 't' }]);
      address.retarget(pair.standby.port);
      await address.cut();
      await address.pass();
      const isReady = async () => (await exchange(moved.url, 'GET', '/health/ready')).status === 200;
      await waitFor(isReady, { what: 'a service on the promoted standby' });
      answer();
      const delivered = () => new Set(held.calls.map(({ headers }) => headers['webhook-id'])).size;
      await waitFor(() => delivered() === BACKLOG, { what: 'every event of the backlog' });
    } finally {
      await moved.stop();
      await address.stop();
      await pair.stop();
    }
  });

  it('has no other block', () => {
    expect(operator.untouched).toEqual([]);
  });
});
