import { type Api, dataOf, type Message } from '../../support/api';
import { miscountsOf } from '../../support/miscounts';
import { useReceiver } from '../../support/receiver';
import { runCommand, type Service, startService } from '../../support/service';
import { cryptoSignature } from '../../support/signatures';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { publish } from '../stage/steps';
import {
  type FactsOf03,
  FINISHED,
  type NewerName,
  type OldDatabase,
  restoreOldDatabase,
  type WebhookName,
} from '../stage/old-database';

describeOnStores('A database of 0.3', (store) => {
  const receiver = useReceiver();
  let old: OldDatabase<FactsOf03>;
  let service: Service;
  let carol: Api;
  let rewritten: { before: unknown; after: unknown };
  let rekeyed: unknown;

  beforeAll(async () => {
    old = await restoreOldDatabase('0.3', receiver);
    const { database, facts } = old;
    const settings = { DATABASE_URL: database.url, SECRETS_KEY: facts.secretsKey };
    const before = await database.query(FINISHED);
    expect(await runCommand(['migrate'], settings)).toMatchObject({ exitCode: 0 });
    rewritten = { before, after: await database.query(FINISHED) };
    rekeyed = await runCommand(['rekey'], settings);
    const more = { ...store.settings(), SECRETS_KEY: facts.secretsKey, RETENTION_DAYS: '3650' };
    service = await startService(more, database);
    carol = service.api.withToken(facts.tokens.carol);
    const isDone = async () => {
      const [row] = await database.query<{ left: number }>(
        `select (select count(*) from webhook_service.deliveries where status = 'pending' and webhook_id <> $1)::int
              + (select count(*) from webhook_service.events where fanned_out_at is null)::int
              + (select count(*) from webhook_service.recoveries where status = 'running')::int
              + (select count(*) from webhook_service.erasures where status = 'running')::int as left`,
        [facts.webhooks.pulled.id],
      );
      return row?.left === 0;
    };
    await waitFor(isDone, { what: 'the end of all that was to be delivered' });
  });
  afterAll(async () => {
    expect(await service?.stop()).toBe(0);
    await old?.database.drop();
  });

  it('is migrated without rewriting what is finished', () => {
    expect(rewritten.before).toHaveLength(2);
    expect(rewritten.after).toEqual(rewritten.before);
  });

  const NAMES: (WebhookName | NewerName)[] = [
    ...(['well', 'fails', 'inactive', 'rotated', 'slow', 'recovering', 'late'] as const),
    ...(['chosen', 'rated', 'givesUp', 'notified'] as const),
  ];
  it.each(NAMES)('delivers the due events of %s once, signed', (name) => {
    const { calls, due, facts } = old;
    expect(calls[name].map(({ headers }) => headers['webhook-id']).sort()).toEqual(due[name]);
    for (const { body, headers } of calls[name])
      expect(headers['x-service-signature']).toBe(cryptoSignature(body, facts.webhooks[name].secret));
  });

  it('has something of every kind to deliver', () => {
    const counts = Object.fromEntries(Object.entries(old.due).map(([name, { length }]) => [name, length]));
    const as02 = { well: 3, fails: 8, inactive: 0, rotated: 0, slow: 9, recovering: 520, late: 2 };
    expect(counts).toEqual({ ...as02, chosen: 0, rated: 2, givesUp: 0, notified: 0, pulled: 4 });
  });

  it('answers the same etags', async () => {
    const now = await Promise.all(
      Object.keys(old.facts.etags).map(async (id) => {
        const { headers } = await carol.call('GET', `/api/webhooks/${id}`);
        return [id, headers.etag];
      }),
    );
    expect(now).toHaveLength(8);
    expect(Object.fromEntries(now)).toEqual(old.facts.etags);
  });

  it('opens every secret and every header', () => {
    expect(rekeyed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Re-encrypted: 0\./) as string });
  });

  it('keeps what webhooks have counted', async () => {
    const { chosen, givesUp } = old.facts.webhooks;
    expect((await dataOf(carol.readWebhook(givesUp.id))).consecutiveFailures).toBe(5);
    expect(await dataOf(carol.listDeliveries(chosen.id))).toMatchObject([
      { event: 'job.started', status: 'succeeded' },
    ]);
    await waitFor(async () => (await miscountsOf(old.database)).length === 0, { what: 'counts that equal the log' });
  });

  it('settles the lease that has ended, and leases the other messages', async () => {
    const { facts } = old;
    const { id, secret } = facts.webhooks.pulled;
    expect(await dataOf(carol.acknowledge(id, { succeeded: [facts.lease] }))).toMatchObject({ expired: [facts.lease] });
    const leases: Message[] = [];
    const areAll = async () => {
      leases.push(...(await dataOf(carol.lease(id, { limit: 10 }))));
      return leases.length === 4;
    };
    await waitFor(areAll, { what: 'two new messages, and the repeats of two that failed' });
    for (const { headers, body } of leases)
      expect(headers['x-service-signature']).toBe(cryptoSignature(Buffer.from(body), secret));
    const succeeded = leases.map(({ leaseId }) => leaseId);
    expect(await dataOf(carol.acknowledge(id, { succeeded }))).toMatchObject({ succeeded, expired: [] });
  });

  it('has subjects and their indexes from today on', async () => {
    const { database } = old;
    const event = await publish(service.api, 'job.started', { subject: 'invoice/1', userId: null });
    const found = async () => (await dataOf(service.api.listEvents({ subject: 'invoice/1' }))).map(({ id }) => id);
    expect(await found()).toEqual([event.id]);
    const [{ days }] = (await database.query<{ days: Record<'hasIndex' | 'isSearched', boolean>[] }>(`
      select json_agg(distinct jsonb_build_object('hasIndex', exists (
          select from pg_indexes i where i.schemaname = 'webhook_service' and i.tablename = c.relname
            and i.indexdef like '%(user_id, subject, id)%'),
        'isSearched', right(c.relname, 8) >= to_char(to_timestamp(
          ('x' || left(replace(subjects_from::text, '-', ''), 12))::bit(48)::bigint / 1000) at time zone 'utc', 'YYYYMMDD')
        )) as days
      from pg_inherits p join pg_class c on c.oid = p.inhrelid, webhook_service.installation
      where p.inhparent in ('webhook_service.events'::regclass, 'webhook_service.deliveries'::regclass)`)) as [
      { days: Record<'hasIndex' | 'isSearched', boolean>[] },
    ];
    expect(days).toHaveLength(2);
    expect(days).toEqual(
      expect.arrayContaining([
        { hasIndex: true, isSearched: true },
        { hasIndex: false, isSearched: false },
      ]),
    );
    const [oldest] = await database.query<{ id: string }>(
      `select id from webhook_service.events where not is_test and user_id = 'carol' order by id limit 1`,
    );
    expect(await dataOf(carol.readEvent(oldest!.id))).toMatchObject({ subject: null });
  });

  it('completes its erasures', async () => {
    const { database, facts } = old;
    const erasures = await database.query<{ status: string }>('select status from webhook_service.erasures');
    expect(erasures).toEqual([{ status: 'done' }, { status: 'done' }]);
    expect(await service.api.withToken(facts.tokens.dave).call('GET', '/api/me')).toMatchObject({ status: 401 });
    const [left] = await database.query<{ count: number }>(
      `select count(*)::int from webhook_service.webhooks where user_id in ('dave', 'erin')`,
    );
    expect(left).toEqual({ count: 0 });
  });
});
