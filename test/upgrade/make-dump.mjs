// Makes a database of version 0.2 or 0.3, for the tests in test/e2e/service that migrate it: see README.md.
//
//   node make-dump.mjs <folder of the built version> <url of an empty database>
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

const [folder, databaseUrl] = process.argv.slice(2);
const load = createRequire(join(resolve(folder), 'package.json'));
load('reflect-metadata');
const { NestFactory } = load('@nestjs/core');
const { Queue, Worker, createPostgresBackend } = load('bullmq');
const { Pool } = load('pg');
const { defineEvent } = load('webhook-notification');
const { database, EventsService, WebhookNotificationModule } = load('webhook-notification/nest');
const version = load('./package.json').version.replace(/[.]0$/, '');
const isOf03 = version === '0.3';

const SECRETS_KEY = Buffer.alloc(32, 2).toString('base64');
const BOOTSTRAP_TOKEN = `wns_${'0'.repeat(43)}`;
const SCOPES = [
  'webhooks:read',
  'webhooks:write',
  'deliveries:read',
  'events:publish',
  'accounts:manage',
  'tokens:manage',
  ...(isOf03 ? ['messages:pull'] : []),
];
const STARTED = { jobId: '1', queue: 'mail', name: 'send', attempt: 1, startedAt: '2026-11-24T10:00:00.000Z' };
const FOLLOWER = {
  accountId: '1',
  follower: { id: '2', username: 'grace' },
  followersCount: 2,
  observedAt: STARTED.startedAt,
};
/** More than a page of a recovery, so that it is still running when the service is killed. */
const MISSED = 520;

/** Inactive webhooks that show what an owner can set, for the etags that 0.3 answers. */
const url = 'https://receiver.example.com/hook';
const KEPT = [
  { url },
  {
    url,
    description: 'All of it',
    metadata: { team: 'billing', stage: 'live' },
    headers: { 'X-Api-Key': 'key', Authorization: 'Basic eA==' },
  },
  {
    url,
    filter: { 'data.followersCount': { gt: 10 } },
    timeoutMs: 2000,
    retryDelaysMs: [1000, 60_000],
    maxPerSecond: 2.5,
  },
  ...['cloudevents', 'slack', 'discord', 'teams'].map((format) => ({ url, format })),
  { kind: 'pull', idleSeconds: 604_800, filter: { userId: 'carol' } },
];

const pool = new Pool({ connectionString: databaseUrl, max: 2 });
const query = async (sql, values) => (await pool.query(sql, values)).rows;

/** Waits until a statement returns a row. */
async function until(sql, ...values) {
  for (let tries = 0; tries < 9000; tries++) {
    const [row] = await query(sql, values);
    if (row) return row;
    await pause(10);
  }
  throw new Error(`No row: ${sql}`);
}

/** /well answers 200, /fails answers 500, and the others never answer. */
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.url === '/well') response.writeHead(200).end('thanks');
    if (request.url === '/fails') response.writeHead(500).end('not today');
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const receiverUrl = `http://127.0.0.1:${receiver.address().port}`;

const free = createServer().listen(0, '127.0.0.1');
await once(free, 'listening');
const PORT = String(free.address().port);
free.close();
await once(free, 'close');

const service = spawn(process.execPath, ['dist/src/main.js'], {
  cwd: folder,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: {
    ...{ PATH: process.env.PATH, HOST: '127.0.0.1', PORT, DATABASE_URL: databaseUrl, SECRETS_KEY, BOOTSTRAP_TOKEN },
    ...{ ALLOWED_NETWORKS: '127.0.0.0/8', RATE_LIMIT_PER_MINUTE: '0', LOG_LEVEL: 'warn', MONITORED_QUEUES: 'reports' },
    // Retries and requests without an answer wait until the service is killed.
    ...{ RETRY_BASE_DELAY_MS: '120000', DELIVERY_TIMEOUT_MS: '60000', WEBHOOK_CONCURRENCY: '2' },
  },
});

async function respond(token, method, path, body) {
  const answer = await fetch(`http://127.0.0.1:${PORT}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  const { data, error } = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${error}`);
  return { data, etag: answer.headers.get('etag') };
}
const call = async (...request) => (await respond(...request)).data;
for (let isReady = false; !isReady; await pause(100)) {
  isReady = await fetch(`http://127.0.0.1:${PORT}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

const tokenOf = async (by, body) => (await call(by, 'POST', '/api/tokens', body)).token;
const alice = await tokenOf(BOOTSTRAP_TOKEN, { name: 'alice', userId: 'alice', scopes: SCOPES });
const bob = await tokenOf(BOOTSTRAP_TOKEN, { name: 'bob', userId: 'bob', scopes: SCOPES });
const reader = await tokenOf(alice, { name: 'of a colleague', scopes: ['webhooks:read', 'deliveries:read'] });

await call(BOOTSTRAP_TOKEN, 'POST', '/api/event-types', {
  name: 'parcel.sent',
  description: 'A parcel was sent.',
  schema: { type: 'object', required: ['parcelId'], properties: { parcelId: { type: 'integer' } } },
  example: { parcelId: 1 },
});
const OrderPaid = defineEvent({
  name: 'order.paid',
  description: 'An order was paid.',
  schema: { type: 'object', required: ['orderId'], properties: { orderId: { type: 'integer' } } },
  example: { orderId: 1 },
});
const imports = [
  WebhookNotificationModule.forRoot({
    application: 'shop',
    events: [OrderPaid],
    transport: database({ connection: pool }),
  }),
];
const shop = await NestFactory.createApplicationContext({ module: class Shop {}, imports }, { logger: ['error'] });

const webhooks = {};
async function subscribe(name, token, path, events, more = {}) {
  const secret = `the secret of ${name}`;
  const body = { ...(path !== null && { url: receiverUrl + path }), events, secret, description: name, ...more };
  const { id } = await call(token, 'POST', '/api/webhooks', body);
  webhooks[name] = { id, secret };
}
await subscribe('well', alice, '/well', ['*']);
await subscribe('fails', alice, '/fails', ['job.started']);
await subscribe('inactive', alice, '/fails', ['job.*']);
await subscribe('rotated', alice, '/well', ['job.*']);
await subscribe('slow', bob, '/slow', ['job.started']);
await subscribe('recovering', bob, '/recovering', ['parcel.sent']);
await subscribe('late', bob, '/late', ['job.completed']);
const rotate = { secret: 'the new secret of rotated', overlapSeconds: 604_800 };
await call(alice, 'POST', `/api/webhooks/${webhooks.rotated.id}/rotate-secret`, rotate);
webhooks.rotated = { ...webhooks.rotated, secret: rotate.secret, previousSecret: webhooks.rotated.secret };

/** Events with an idempotency key, as they were published; no token: in process. */
const keys = [];
async function publish(token, event, data, more = {}) {
  const { id } = await call(token, 'POST', '/api/events', { event, data, ...more });
  if (more.idempotencyKey) keys.push({ token, event, data, key: more.idempotencyKey, id });
  return id;
}
async function publishInProcess(orderId) {
  const [data, key] = [{ orderId }, `order ${orderId}`];
  const { id } = await shop.get(EventsService).publish(OrderPaid, data, { userId: 'alice', idempotencyKey: key });
  keys.push({ token: null, event: OrderPaid.name, data, key, id });
}
const SETTLED = `select from webhook_service.events e where id = $1 and fanned_out_at is not null and not exists (
  select from webhook_service.deliveries d where d.event_id = e.id and d.status = 'pending' and d.attempt = 1)`;

// Alice: deliveries that succeeded, failed and wait for a retry, a webhook that is inactive, tests.
for (let n = 1; n <= 5; n++) {
  await until(
    SETTLED,
    await publish(alice, 'job.started', { ...STARTED, jobId: String(n) }, { idempotencyKey: `job ${n}` }),
  );
}
await publishInProcess(1);
await call(alice, 'POST', `/api/webhooks/${webhooks.well.id}/test`);
await call(alice, 'POST', `/api/webhooks/${webhooks.fails.id}/test`, { event: 'follower.gained' });
await call(alice, 'PATCH', `/api/webhooks/${webhooks.inactive.id}`, { active: false });
const account = await call(alice, 'POST', '/api/accounts', { provider: 'push', handle: 'shop' });
for (const names of [['ada'], ['ada', 'grace', 'edsger']]) {
  const followers = names.map((username, i) => ({ id: String(i + 1), username }));
  await call(alice, 'PUT', `/api/accounts/${account.id}/followers`, { followers });
}

// What only 0.3 has: erasures, pull webhooks and leases, and all that an owner can set on a webhook.
const more = isOf03 ? await fillOf03() : {};

// A queue of somebody else's: one job has ended, one has begun.
const connection = { connectionString: databaseUrl, max: 2, migrate: true };
const queue = new Queue('reports', { connection }, createPostgresBackend);
const job = ({ name }) => (name === 'short' ? { pages: 3 } : new Promise(() => undefined));
const worker = new Worker('reports', job, { connection, concurrency: 2 }, createPostgresBackend);
await queue.add('short', {}, { jobId: 'short-1' });
await queue.add('long', {}, { jobId: 'long-1' });
for (const id of ['short-1', 'long-1']) {
  await until(`select from webhook_service.events where body::json->'data'->>'jobId' = $1`, id);
}

// Bob: two requests without an answer, rows that wait for them, and one event for everybody.
for (let n = 1; n <= 6; n++) await publish(bob, 'job.started', { ...STARTED, jobId: `slow ${n}` });
await publish(
  BOOTSTRAP_TOKEN,
  'job.started',
  { ...STARTED, jobId: 'everybody' },
  { userId: null, idempotencyKey: 'all' },
);
await until('select from webhook_service.deliveries where parked offset 4');

// What the third webhook has missed is being recovered.
const since = new Date().toISOString();
await call(bob, 'PATCH', `/api/webhooks/${webhooks.recovering.id}`, { active: false });
for (let n = 0; n < MISSED; n += 65) {
  const events = Array.from({ length: 65 }, (_, i) => ({ event: 'parcel.sent', data: { parcelId: n + i } }));
  await call(bob, 'POST', '/api/events/batch', { events });
}
await until(
  `select where not exists (select from webhook_service.events where fanned_out_at is null and name = 'parcel.sent')`,
);
await call(bob, 'PATCH', `/api/webhooks/${webhooks.recovering.id}`, { active: true });
const recovery = await call(bob, 'POST', `/api/webhooks/${webhooks.recovering.id}/recover`, { since });
await until(`select from webhook_service.deliveries where trigger = 'redelivery' offset 499`);

// Attempts are counted twice over: those of the last five seconds one by one, and earlier ones summed up.
await until('select from webhook_service.attempt_counts');
await until(SETTLED, await publish(alice, 'follower.lost', FOLLOWER, { idempotencyKey: 'follower 1' }));

if (isOf03) {
  await call(BOOTSTRAP_TOKEN, 'DELETE', '/api/users/dave', { confirm: 'dave' });
  for (let n = 1; n <= 3; n++) await publish(more.tokens.carol, 'follower.gained', FOLLOWER);
  const limited = `select from webhook_service.deliveries where webhook_id = $1 and status = 'pending' and parked offset 1`;
  await until(limited, webhooks.rated.id);
}

// The service is killed while it holds an event whose delivery has no row yet. What is published then is found by nobody.
const held = await publish(bob, 'job.completed', {
  ...{
    jobId: 'late',
    queue: 'mail',
    name: 'send',
    attempts: 1,
    startedAt: STARTED.startedAt,
    completedAt: STARTED.startedAt,
  },
  ...{ durationMs: 0, result: null },
});
await until('select from webhook_service.events where id = $1 and claimed and fanned_out_at is null', held);
service.kill('SIGKILL');
await once(service, 'exit');
for (const orderId of [2, 3, 4]) await publishInProcess(orderId);
await Promise.all([worker.close(true), queue.close()]);
await shop.close();
await pool.end();
receiver.close();
receiver.closeAllConnections();

const options = ['--no-owner', '--no-privileges', '--no-comments', '--inserts', '--rows-per-insert=100'];
const dumped = execFileSync('pg_dump', [...options, databaseUrl], { encoding: 'utf8', maxBuffer: 2 ** 28 });
const sql = dumped
  .replaceAll(receiverUrl.slice(7), '127.0.0.1:9')
  // Comments, and what only psql understands.
  .replaceAll(/^(--.*|\\(un)?restrict .*)\n/gm, '')
  .replaceAll(/\n{2,}/g, '\n');
const facts = {
  secretsKey: SECRETS_KEY,
  tokens: { alice, bob, reader },
  webhooks,
  keys,
  account: account.id,
  recovery: recovery.id,
  ...more,
};
writeFileSync(new URL(`database-${version}.sql.gz`, import.meta.url), gzipSync(sql, { level: 9 }));
writeFileSync(new URL(`database-${version}.json`, import.meta.url), `${JSON.stringify(facts, null, 2)}\n`);

async function fillOf03() {
  const [carol, dave, erin] = await Promise.all(
    ['carol', 'dave', 'erin'].map((userId) => tokenOf(BOOTSTRAP_TOKEN, { name: userId, userId, scopes: SCOPES })),
  );
  // One erasure is done, another one is still running at the end.
  for (const token of [dave, erin]) {
    const { id } = await call(token, 'POST', '/api/webhooks', { url: `${receiverUrl}/well`, events: ['job.started'] });
    await until(SETTLED, await publish(token, 'job.started', STARTED));
    await call(token, 'POST', `/api/webhooks/${id}/test`);
  }
  const erasure = await call(BOOTSTRAP_TOKEN, 'DELETE', '/api/users/erin', { confirm: 'erin' });

  const filter = { 'data.attempt': { gte: 2 }, any: [{ 'data.queue': 'mail' }, { 'data.name': { prefix: 'send' } }] };
  await subscribe('chosen', carol, '/well', ['job.started'], { filter, format: 'cloudevents' });
  await subscribe('rated', carol, '/well', ['follower.gained'], { maxPerSecond: 0.2 });
  await subscribe('givesUp', carol, '/fails', ['follower.lost'], { retryDelaysMs: [] });
  await subscribe('notified', carol, '/well', ['webhook.failing']);
  await subscribe('pulled', carol, null, ['parcel.sent'], { kind: 'pull' });
  for (const attempt of [1, 2]) await until(SETTLED, await publish(carol, 'job.started', { ...STARTED, attempt }));
  for (let n = 1; n <= 5; n++) await until(SETTLED, await publish(carol, 'follower.lost', FOLLOWER));
  await until(
    `select from webhook_service.deliveries where webhook_id = $1 and status = 'succeeded'`,
    webhooks.notified.id,
  );

  // Of five messages one is acknowledged, one failed and waits for its retry, one is leased, and two wait.
  for (let parcelId = 1; parcelId <= 5; parcelId++) await publish(carol, 'parcel.sent', { parcelId });
  await until('select from webhook_service.deliveries where webhook_id = $1 offset 4', webhooks.pulled.id);
  const messages = `/api/webhooks/${webhooks.pulled.id}/messages`;
  const leases = await call(carol, 'POST', `${messages}/lease`, { limit: 3, leaseSeconds: 600 });
  const [succeeded, failed, lease] = leases.map(({ leaseId }) => leaseId);
  await call(carol, 'POST', `${messages}/ack`, { succeeded: [succeeded], failed: [{ leaseId: failed }] });

  const etags = {};
  for (const [i, settings] of KEPT.entries()) {
    const kept = { events: ['follower.*'], active: false, secret: `the secret of kept ${i}`, ...settings };
    const { data } = await respond(carol, 'PUT', `/api/webhooks/external/kept-${i}`, kept);
    etags[data.id] = (await respond(carol, 'GET', `/api/webhooks/${data.id}`)).etag;
  }
  await call(carol, 'POST', '/api/console-links', {});
  await call(carol, 'POST', '/api/console-sessions', {});
  await until(`select from webhook_service.erasures where id = $1 and status = 'done'`, erasure.id);
  return { tokens: { alice, bob, reader, carol, dave }, erasure: erasure.id, lease, etags };
}
