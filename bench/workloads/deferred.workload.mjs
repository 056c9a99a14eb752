// 8,000 deliveries of eight healthy webhooks in addition to 100,000 deferred ones of others, in the partitions of a
// month: how many are made in 20 s. The limit is the same where PostgreSQL compiles no plan.
import { setTimeout as pause } from 'node:timers/promises';
import { createAudience, Service } from '../processes/services.mjs';
import { alternate } from '../rounds.mjs';

const DEFERRED = 100_000;
const HEALTHY = 8;
const EACH = 1000;
const WITHIN_MS = 20_000;

export async function deferred(bench) {
  for (const queue of bench.stores.queues) {
    await alternate(bench, {
      title: `deferred deliveries made beside ${bench.scaled(DEFERRED)} of others, ${queue}`,
      unit: 'deliveries',
      limit: () => makeDeferred(bench, queue, 'off'),
      measure: () => makeDeferred(bench, queue, 'on'),
    });
  }
}

async function makeDeferred(bench, queue, jit) {
  const service = await Service.start(bench, queue, { ROLE: 'api' });
  try {
    const [{ name }] = await service.query('select current_database() as name');
    await service.query(`alter database ${name} set jit = ${jit}`);
    await makeMonth(service);
    const silent = await createAudience(bench, service, { user: 'silent', webhooks: 100, answers: false });
    const healthy = await createAudience(bench, service, { user: 'healthy', webhooks: HEALTHY });
    await defer(service, silent, bench.scaled(DEFERRED) / 100);
    await defer(service, healthy, EACH);
    await service.addProcess({ ROLE: 'worker' });
    await pause(WITHIN_MS);
    const { arrivals } = await bench.receiver.ask('report', { group: healthy.group });
    return { values: { value: arrivals.length }, problems: [] };
  } finally {
    await service.end();
  }
}

/** Creates the partitions of a service that is a month old. */
async function makeMonth(service) {
  for (const table of ['events', 'deliveries']) {
    for (let day = 31; day > 1; day -= 1) {
      await service.query(`
        do $$ declare name text := to_char(now() at time zone 'utc' - interval '${day} days', '"${table}_p"YYYYMMDD');
          first bigint := extract(epoch from date_trunc('day', now() at time zone 'utc') - interval '${day} days') * 1000;
        begin
          execute format('create table webhook_service.%I (like webhook_service.${table} including all)', name);
          execute format('alter table webhook_service.${table} attach partition webhook_service.%I for values from (%L) to (%L)',
            name, rpad(lpad(to_hex(first), 12, '0'), 32, '0')::uuid, rpad(lpad(to_hex(first + 86400000), 12, '0'), 32, '0')::uuid);
        end $$`);
    }
  }
}

/** Creates pending deliveries for each webhook that have waited for a slot. */
async function defer(service, { user, webhookIds }, each) {
  await service.query(
    `with e as (
       insert into webhook_service.events (id, name, user_id, body, fanned_out_at)
       select (lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7000'
               || '8' || substr(md5(random()::text), 1, 15))::uuid, 'job.started', $1, '{}', now()
       from generate_series(1, $3::int * cardinality($2::uuid[])) returning id
     ), numbered as (select id, row_number() over () as n from e)
     insert into webhook_service.deliveries
       (id, webhook_id, user_id, event_id, event, attempt, trigger, status, url, scheduled_at, parked, leased_until)
     select n.id, w.id, $1, n.id, 'job.started', 1, 'event', 'pending', w.url, now(), true, now() + interval '1 hour'
     from numbered n join webhook_service.webhooks w on w.id = ($2::uuid[])[1 + n.n % cardinality($2::uuid[])]`,
    [user, webhookIds, each],
  );
}
