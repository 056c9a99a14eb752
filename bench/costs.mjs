// The cost of a delivery, for the calculations in docs/capacity.md: bytes on disk, in the write-ahead log, in Redis and
// on the network, processor time and connections, by role. Run it manually, on Linux: `npm run build && node
// bench/costs.mjs`.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { JOB_OPTIONS } from '../dist/src/infrastructure/queue/queue-connections.client.js';
import { cpuMs, postmasterOf, treeCpuMs } from './processes/cpu.mjs';
import { Remote } from './processes/remote.mjs';
import { createAudience, Service, warmUp } from './processes/services.mjs';
import { Stores } from './processes/stores.mjs';

const EVENTS = Number(process.argv[2] ?? 20_000);
const WEBHOOKS = 5;
const REMINDERS = 20_000;
const PUBLISHERS = 50;

const cleanUps = [];
const say = (line) => process.stdout.write(`${line}\n`);
const tell = (what, value, unit = '') => say(`  ${what.padEnd(52)} ${Number(value.toPrecision(3))} ${unit}`);

/** Starts a receiver in this process, which also counts incoming bytes. */
async function startReceiver() {
  const state = { count: 0, bytes: 0, url: '' };
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      state.count++;
      response.writeHead(200).end();
    });
  });
  server.on('connection', (socket) => socket.once('close', () => (state.bytes += socket.bytesRead)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  state.url = `http://127.0.0.1:${port}`;
  state.hangUp = () => server.closeAllConnections();
  cleanUps.push(() => server.close());
  return state;
}

/** Reads everything that grows with deliveries. */
async function reading({ service, postmaster, api, worker, redis }) {
  const [row] = await service.query(`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal, pg_current_xact_id()::text::float8 as xids,
           (select sum(wal_fpi)::float8 from pg_stat_wal) as images`);
  const cpu = redis && (await redis.info('cpu'));
  const used = (name) => Number(new RegExp(`used_cpu_${name}:([\\d.]+)`).exec(cpu)?.[1] ?? 0) * 1000;
  return {
    ...row,
    postgres: treeCpuMs(postmaster),
    redis: used('user') + used('sys'),
    api: cpuMs(api.pid),
    worker: cpuMs(worker.pid),
  };
}

async function connections(service, redis) {
  const [{ postgres }] = await service.query(
    `select count(*)::int as postgres from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  return { postgres, redis: redis ? (await redis.client('LIST')).trim().split('\n').length - 1 : 0 };
}

async function settled(service) {
  for (;;) {
    const [{ open }] = await service.query(`
      select (select count(*) from webhook_service.deliveries where status = 'pending')::int
           + (select count(*) from webhook_service.events where fanned_out_at is null)::int as open`);
    if (open === 0) return;
    await pause(100);
  }
}

async function sizes(service, title, rowsOf) {
  say(` ${title}`);
  const rows = await service.query(`
    select p.relname as parent, coalesce(i.name, 'the table itself') as what, sum(i.bytes)::float8 as bytes
    from pg_class p
    join pg_inherits h on h.inhparent = p.oid
    cross join lateral (
      select null as name, pg_table_size(h.inhrelid) as bytes
      union all
      select pc.relname, pg_relation_size(x.indexrelid)
      from pg_index x join pg_inherits xh on xh.inhrelid = x.indexrelid join pg_class pc on pc.oid = xh.inhparent
      where x.indrelid = h.inhrelid
    ) as i
    where p.oid in ('webhook_service.events'::regclass, 'webhook_service.deliveries'::regclass)
    group by 1, 2 order by 1, 3 desc`);
  for (const parent of ['events', 'deliveries']) {
    const own = rows.filter((row) => row.parent === parent);
    for (const { what, bytes } of own) tell(`${parent}, ${what}`, bytes / rowsOf[parent], 'bytes/row');
    tell(`${parent}, altogether`, own.reduce((sum, { bytes }) => sum + bytes, 0) / rowsOf[parent], 'bytes/row');
  }
}

async function bytesOfJobs(url) {
  const redis = new Redis(url);
  const memory = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  for (const [kind, delay] of Object.entries({ waiting: 0, delayed: 3_600_000 })) {
    for (const size of [1, 50]) {
      const queue = new Queue('{costs}', { connection: { url }, defaultJobOptions: JOB_OPTIONS });
      await queue.waitUntilReady();
      const before = await memory();
      const jobs = Array.from({ length: REMINDERS / size }, (_, job) => {
        const idOf = (_, i) => `0199c3a4-6f6e-7c52-9d5a-${String(job * size + i).padStart(12, '0')}`;
        const data = { deliveryIds: Array.from({ length: size }, idOf), dueAt: Date.now() };
        return { name: 'send', data, opts: { delay, timestamp: Date.now() } };
      });
      for (let i = 0; i < jobs.length; i += 500) await queue.addBulk(jobs.slice(i, i + 500));
      tell(`Redis, a delivery in a ${kind} job of ${size}`, ((await memory()) - before) / REMINDERS, 'bytes');
      await queue.obliterate({ force: true });
      await queue.close();
    }
  }
  redis.disconnect();
}

async function measure(bench, queue) {
  say(`\n${EVENTS} events to ${WEBHOOKS} webhooks each, queues on ${queue}`);
  const service = await Service.start(bench, queue, { ROLE: 'api' });
  const api = service.first;
  const redisUrl = service.store.settings.REDIS_URL;
  const redis = redisUrl ? new Redis(redisUrl) : null;
  const postmaster = await postmasterOf(service);
  const { token } = await createAudience(bench, service, { user: 'nobody', webhooks: 0 });
  await bench.load.ask('publish', { url: service.url, token, count: 1000, concurrency: 100 });
  const ofApi = await connections(service, redis);
  const worker = await service.addProcess({ ROLE: 'worker' });
  await warmUp({ ...bench, receiverUrl: bench.remoteUrl }, service);
  await settled(service);

  const audience = await createAudience(bench, service, { user: 'costs', webhooks: WEBHOOKS });
  const { receiver } = bench;
  [receiver.count, receiver.bytes] = [0, 0];
  await service.query('checkpoint');
  await service.query(`truncate webhook_service.events, webhook_service.deliveries`);
  const measured = { service, postmaster, api, worker, redis };
  const before = await reading(measured);
  const startedAt = performance.now();
  const load = { url: service.url, token: audience.token, count: EVENTS, concurrency: PUBLISHERS };
  await bench.load.ask('publish', load);
  await settled(service);
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await reading(measured);
  const all = await connections(service, redis);
  receiver.hangUp();
  await pause(100);

  const deliveries = EVENTS * WEBHOOKS;
  const grown = (name, by = deliveries) => (after[name] - before[name]) / by;
  if (receiver.count !== deliveries) throw new Error(`${receiver.count} of ${deliveries} deliveries came.`);
  tell('deliveries/s meanwhile', deliveries / seconds);
  tell('write-ahead log of a delivery and its part of the event', grown('wal'), 'bytes');
  tell('of these, images of whole pages', grown('images'), 'pages');
  tell('transaction ids of a delivery', grown('xids'));
  tell('PostgreSQL, processor time of a delivery', grown('postgres') * 1000, 'µs');
  if (redis) tell('Redis, processor time of a delivery', grown('redis') * 1000, 'µs');
  tell('a worker, processor time of a delivery', grown('worker') * 1000, 'µs');
  tell('an API process, processor time of an event', grown('api', EVENTS) * 1000, 'µs');
  tell('bytes that a receiver gets for a delivery', receiver.bytes / deliveries, 'bytes');
  tell('connections to PostgreSQL, of an API process', ofApi.postgres);
  tell('connections to PostgreSQL, of a worker', all.postgres - ofApi.postgres);
  if (redis) tell('connections to Redis, of an API process', ofApi.redis);
  if (redis) tell('connections to Redis, of a worker', all.redis - ofApi.redis);

  const rowsOf = { events: EVENTS, deliveries };
  await sizes(service, 'on disk, as it was written', rowsOf);
  await service.query('vacuum full webhook_service.events, webhook_service.deliveries');
  await sizes(service, 'on disk, as small as it can be', rowsOf);
  await service.end();
  if (redisUrl) await bytesOfJobs(redisUrl);
  redis?.disconnect();
}

async function main() {
  const stores = new Stores();
  cleanUps.push(() => stores.stop());
  await stores.start();
  const [remote, load] = [new Remote('receiver.process.mjs'), new Remote('load.process.mjs')];
  cleanUps.push(() => Promise.all([remote.kill(), load.kill()]));
  const receiver = await startReceiver();
  const cleanUp = (undo) => cleanUps.push(undo);
  const remoteUrl = await remote.ask('url');
  const scaled = (count) => count;
  const bench = { stores, receiver, load, receiverUrl: receiver.url, remoteUrl, say, scaled, cleanUp };
  bench.receiver = Object.assign(receiver, { ask: (...question) => remote.ask(...question) });
  for (const queue of stores.queues) await measure(bench, queue);
}

main()
  .catch((error) => {
    process.stderr.write(`${error.stack ?? error}\n`);
    process.exitCode = 1;
  })
  .finally(async () => {
    for (let undo = cleanUps.pop(); undo; undo = cleanUps.pop()) await undo();
    process.exit();
  });
