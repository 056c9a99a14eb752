// A service full of data to look at, on a temporary folder: `npm run demo:fill`. It prints a link to the console, and runs until
// Ctrl-C. There are twelve webhooks in every state, whose receivers are in this process, with some 3,000 events and a month of
// counts; a second user, bob, has a hundred webhooks. `DEMO_EVENTS=300` publishes fewer, `PORT` is that of the service.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '@webhook-notification/embedded-postgres';

const SERVICE = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'src', 'main.js');
const TOKEN = `wns_${randomBytes(32).toString('base64url')}`;
const EVENTS = Number(process.env.DEMO_EVENTS ?? 3000);
const BATCH = 100;
const BOBS = 100;

/** What a receiver answers to its nth request. */
const RECEIVERS = {
  crm: (n) => (n <= 60 ? {} : { status: 500, body: '{"error":"internal","trace":"NullPointerException at Hook:42"}' }),
  erp: (n) => (n <= 40 ? {} : { status: 410, body: 'gone' }),
  partner: (n) => (n % 9 ? { delayMs: 40 } : { status: 503, body: 'busy' }),
  billing: () => ({ delayMs: 70 }),
  lake: () => ({}),
  audit: () => ({ delayMs: 15 }),
  chat: () => ({ body: 'ok' }),
  slow: (n) => ({ delayMs: n % 4 ? 900 : 4000 }),
  busy: (n) => (n <= 30 ? {} : { status: 429, headers: { 'retry-after': '1800' } }),
  depot: () => ({}),
  staging: () => ({}),
};

const WEBHOOKS = [
  { name: 'crm', description: 'CRM sync', events: ['follower.*', 'job.*'], metadata: { team: 'sales' } },
  { name: 'erp', path: '/notify?v=2', description: 'Legacy ERP', events: ['operation.*'] },
  { name: 'partner', description: 'Partner feed', events: ['operation.*', 'follower.lost'] },
  {
    ...{ name: 'billing', description: 'Billing', events: ['job.*'], externalId: 'billing' },
    ...{ headers: { 'x-api-key': 'only the demo knows this' }, metadata: { team: 'money', stage: 'live' } },
  },
  { name: 'lake', description: 'Data lake', events: ['*'] },
  { name: 'audit', description: 'Audit trail', events: ['operation.*', 'job.*', 'webhook.*'] },
  { name: 'chat', description: 'Failures, to the chat', events: ['operation.failed'], format: 'slack' },
  {
    ...{ name: 'slow', description: 'Slow partner', events: ['follower.gained'], timeoutMs: 2000 },
    filter: { 'data.followersCount': { gte: 100 } },
  },
  { name: 'busy', description: 'Analytics', events: ['operation.complete'] },
  { name: 'depot', description: 'Warehouse', events: ['job.started'], maxPerSecond: 1 },
  { name: 'staging', description: 'Staging receiver', events: ['follower.lost'], filter: { userId: 'nobody' } },
  { name: 'staging', path: '/old', description: null, events: ['job.completed'], active: false },
];

/** So many attempts were made before: by the hour in the last month, by five minutes in the last two days, with waves of a day. */
const BEFORE = `
  insert into webhook_service.attempt_counts
    (webhook_id, user_id, minutes, status, at, error_code, duration_class, count)
  select $1, $2, $4, status, at, code, class, count
  from generate_series(1, $5::integer) step
  cross join lateral (select date_bin(make_interval(mins => $4), now(), 'epoch') - make_interval(mins => $4 * step) as at) t
  cross join lateral (values
    ('succeeded', '', 12, ($4 * (7 + 5 * sin(extract(epoch from at) / 13751)))::integer),
    ('failed', 'http_status', 10, round($4 * $3::float8 / 60 * abs(cos(extract(epoch from at) / 4000)))::integer)
  ) made (status, code, class, count)
  where count > 0`;
/** Failures an hour by webhook; the others had no traffic before. */
const FAILURES_AN_HOUR = { crm: 0, erp: 9, partner: 24, billing: 0, lake: 0, audit: 0, slow: 30, busy: 12 };

const cleanUps = [];
async function end(exitCode) {
  for (let undo = cleanUps.pop(); undo; undo = cleanUps.pop()) await Promise.resolve().then(undo).catch(console.error);
  process.exit(exitCode);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void end(0));

async function main() {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-demo-'));
  // PostgreSQL may run as another user.
  await chmod(folder, 0o755);
  cleanUps.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const database = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres') });
  cleanUps.push(() => database.stop());
  const receivers = await startReceivers();
  const url = await startService(database.url);
  const api = apiOf(url, TOKEN);

  console.log('Creates webhooks …');
  const made = [];
  for (const { name, path = '/in', ...webhook } of WEBHOOKS) {
    const hook = { url: `http://hooks.${name}.localhost:${receivers}${path}`, ...webhook };
    made.push({ name, ...(await api('POST', 'webhooks', hook)) });
  }
  await createBobs(api, url);

  console.log(`Publishes ${EVENTS} events …`);
  const types = (await api('GET', 'event-types')).filter(({ name }) => !name.startsWith('webhook.'));
  const { userId } = await api('GET', 'me');
  const event = (i) => ({ event: types[i % types.length].name, userId, data: types[i % types.length].example });
  for (let i = 0; i < EVENTS; i += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, EVENTS - i) }, (_, j) => event(i + j));
    await api('POST', 'events/batch', { events });
  }

  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  for (const { name, id } of made) {
    if (!(name in FAILURES_AN_HOUR)) continue;
    for (const [minutes, steps] of [
      [5, 2 * 24 * 12],
      [60, 29 * 24],
    ])
      await client.query(BEFORE, [id, userId, FAILURES_AN_HOUR[name], minutes, steps]);
  }
  await client.end();
  const link = await api('POST', 'console-links', {});
  console.log(`\nOpen ${url}${link.url}\nAccess token: ${TOKEN}\nCtrl-C ends it and removes its data.`);
}

async function createBobs(api, url) {
  const scopes = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];
  const { token } = await api('POST', 'tokens', { name: 'demo', userId: 'bob', scopes });
  const bob = apiOf(url, token);
  for (let i = 1; i <= BOBS; i++) {
    const events = [i % 3 ? 'operation.*' : 'follower.gained'];
    await bob('POST', 'webhooks', {
      url: `https://example.com/hooks/${i}`,
      description: `Branch ${i}`,
      events,
      active: i % 9 > 0,
    });
  }
}

async function startReceivers() {
  const counts = {};
  const server = createServer((request, response) => {
    const name = (request.headers.host ?? '').split('.')[1] ?? '';
    counts[name] = (counts[name] ?? 0) + 1;
    const { status = 200, headers = {}, body = '{"ok":true}', delayMs = 0 } = RECEIVERS[name]?.(counts[name]) ?? {};
    request.resume().once('end', () => {
      void pause(delayMs).then(() => response.writeHead(status, headers).end(body));
    });
  });
  cleanUps.push(() => server.close(() => undefined).closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
}

/** Returns the url of the service when it is ready. */
async function startService(databaseUrl) {
  const { PATH, HOME, TMPDIR, PORT = '3000' } = process.env;
  const settings = {
    ...{ DATABASE_URL: databaseUrl, HOST: '127.0.0.1', PORT, BOOTSTRAP_TOKEN: TOKEN, LOG_LEVEL: 'error' },
    ...{ SECRETS_KEY: randomBytes(32).toString('base64'), ALLOWED_NETWORKS: '127.0.0.0/8', RATE_LIMIT_PER_MINUTE: '0' },
    ...{ MAX_RETRIES: '3', RETRY_BASE_DELAY_MS: '1000', RETRY_FACTOR: '2', DELIVERY_TIMEOUT_MS: '5000' },
  };
  const child = spawn(process.execPath, [SERVICE], {
    env: { PATH, HOME, TMPDIR, ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  cleanUps.push(async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit');
  });
  const url = `http://127.0.0.1:${PORT}`;
  const isReady = () =>
    fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error('The service did not start.');
    await pause(200);
  }
  return url;
}

const apiOf = (url, token) => async (method, path, body) => {
  const response = await fetch(`${url}/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  const { success, data, error } = /** @type {{ success: boolean, data?: any, error?: string }} */ (
    await response.json()
  );
  if (!success) throw new Error(`${method} ${path} returned ${response.status}: ${error}`);
  return data;
};

await main().catch((error) => {
  console.error(error);
  return end(1);
});
