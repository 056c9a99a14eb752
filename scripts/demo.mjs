// A demonstration of the service in a few seconds: `npm run demo`.
//
// It starts the service on a temporary folder, registers a webhook at a small receiver of its own, runs a BullMQ queue
// whose jobs become events, lets an account gain and lose a follower, checks every signature, lets one delivery fail and
// be retried, posts failures to a Slack channel, and reads the log. Exit code 0 means that every check passed. The demo imports no code of the service and
// uses only its public interface.
import { spawn } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createPostgresBackend, Queue, Worker } from 'bullmq';

const SERVICE = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'src', 'main.js');
const EVENTS = 'operation.complete operation.failed follower.gained follower.lost job.started job.completed'.split(' ');
const QUEUE = 'demo-reports';
/** One job succeeds and one fails. */
const OF_JOBS = 'job.started job.completed operation.complete job.started operation.failed'.split(' ');
/** An account gains one follower and loses another. */
const OF_FOLLOWERS = 'follower.gained follower.lost'.split(' ');
const ALL = [...OF_FOLLOWERS, ...OF_JOBS];
/** The receiver returns 500 to the first request with this event. */
const FAILS_ONCE = 'follower.lost';
const SECRET = 'only the demo knows this';
const RETRY_AFTER_MS = 400;
/** Everything takes a few seconds; on a busy machine the first start of a database alone takes half a minute. */
const PATIENCE_MS = 120_000;

const startedAt = performance.now();
const interruption = new AbortController();
/** One entry per claim: true when it holds. */
const checks = [];

// ---------------------------------------------------------------------------------------------- the demo

async function tell(cleanup) {
  title('Webhook Notification Service: every event reaches its receiver, signed');

  step(1, 'Start the service. It brings its own PostgreSQL and needs no other server.');
  const folder = await makeFolder(cleanup);
  const service = await startService(folder, cleanup);
  detail('node dist/src/main.js', `DATA_DIR=${service.dataDir} RETRY_BASE_DELAY_MS=${RETRY_AFTER_MS}`);
  detail('listens on', `${service.url}, ready after ${seconds(performance.now() - startedAt)}`);
  const api = apiOf(service.url, (await readFile(join(service.dataDir, 'first-token'), 'utf8')).trim());
  const me = await api('GET', '/api/me');
  check(`the first access token works: it belongs to ${me.data?.userId}`, me.status === 200);

  step(2, 'Start a receiver. Any HTTP server will do: it checks the signature and answers 2xx.');
  const receiver = await startReceiver(cleanup);
  detail('listens on', `${receiver.url}, and fails the first ${FAILS_ONCE} on purpose`);

  step(3, 'Register a webhook for all six events.');
  const webhook = await api('POST', '/api/webhooks', { url: receiver.url, events: EVENTS, secret: SECRET });
  detail(`${webhook.status} POST /api/webhooks`, `webhook ${webhook.data?.id}`);
  check('the webhook is created', webhook.status === 201 && webhook.data.events.length === EVENTS.length);

  const channel = await startReceiver(cleanup);
  const chat = {
    url: channel.url,
    events: ['operation.*'],
    filter: { 'data.error': { exists: true } },
    format: 'slack',
  };
  const second = await api('POST', '/api/webhooks', { ...chat, secret: SECRET });
  check('a second one posts failures, and only those, to a Slack channel', second.status === 201);

  step(4, 'Run two jobs in a BullMQ queue that the service monitors, and let an account gain and lose a follower.');
  const jobs = await runJobs(service, cleanup);
  const changes = await changeFollowers(api);
  await waitFor('all deliveries and one retry', () => receiver.requests.length > ALL.length);
  checkDeliveries(receiver.requests);
  checkJobs(receiver.requests, jobs);
  checkFollowers(receiver.requests, changes);
  await waitFor('the message in the channel', () => channel.requests.length > 0);
  checkChannel(channel.requests);
  await jobs.close();

  step(5, 'Read the delivery log: one row for every attempt.');
  const log = await settledLog(api, webhook.data.id);
  table(log);
  checkLog(log, receiver.requests);

  step(6, 'Stop the service.');
  const exitCode = await service.stop();
  check('SIGTERM ends it cleanly, with exit code 0', exitCode === 0);
  await cleanup.run();
  check('its data folder is removed', !existsSync(folder));
}

/** A push account gets three lists of followers: the initial one, one with a new follower, and one without another. */
async function changeFollowers(api) {
  const account = await api('POST', '/api/accounts', { provider: 'push', handle: 'demo' });
  const [ada, bob] = [
    { id: '1', username: 'ada', displayName: 'Ada' },
    { id: '2', username: 'bob' },
  ];
  const put = async (...followers) => {
    const answer = await api('PUT', `/api/accounts/${account.data?.id}/followers`, { followers });
    const { gained, lost } = answer.data ?? {};
    const names = followers.map(({ username }) => username).join(', ');
    say(`   ${dim('→')} ${answer.status}  followers: ${names.padEnd(9)} ${dim(`${gained} gained, ${lost} lost`)}`);
    return [answer.status, gained, lost];
  };
  check('the first list of followers tells of nobody', isSame(await put(ada), [200, 0, 0]));
  check('the second has one more', isSame(await put(ada, bob), [200, 1, 0]));
  check('the third has one less', isSame(await put(bob), [200, 0, 1]));
  const about = { accountId: account.data?.id };
  return [
    { event: 'follower.gained', data: { ...about, follower: bob, followersCount: 2 } },
    { event: 'follower.lost', data: { ...about, follower: ada, followersCount: 1 } },
  ];
}

function checkDeliveries(requests) {
  check(
    'all signatures are verified',
    requests.every(({ isVerified }) => isVerified),
  );
  check(
    'a body that was tampered with is not',
    requests.every(({ body, signature }) => !isSigned(Buffer.concat([body, Buffer.from(' ')]), signature, SECRET)),
  );
  const [first, second] = requests.filter(({ event }) => event === FAILS_ONCE);
  check(
    'exactly one attempt failed, and its retry sent the same bytes again',
    requests.filter(({ answer }) => answer === 500).length === 1 &&
      first?.answer === 500 &&
      second?.attempt === 2 &&
      second.body.equals(first.body),
  );
}

function checkJobs(requests, { succeeds, fails }) {
  const received = requests.filter(({ event, answer }) => OF_JOBS.includes(event) && answer === 200);
  const events = received.map(({ event, body }) => [event, JSON.parse(body).data]);
  const dataOf = (name, id) =>
    events.find(([event, { jobId, operationId }]) => event === name && (jobId ?? operationId) === id)?.[1];
  check(
    'the jobs became the events that they should, once each',
    isSame(events.map(([event]) => event).sort(), [...OF_JOBS].sort()),
  );
  check(
    'the one that succeeded brought its result',
    dataOf('job.started', succeeds)?.attempt === 1 &&
      dataOf('job.completed', succeeds)?.result.rows === 1280 &&
      dataOf('operation.complete', succeeds)?.result.rows === 1280,
  );
  const error = { name: 'Error', message: 'The report source is offline.' };
  check('the one that failed brought its error', isSame(dataOf('operation.failed', fails)?.error, error));
}

function checkFollowers(requests, changes) {
  check(
    'each change of followers was received once, exactly as it happened',
    changes.every(({ event, data }) => {
      const received = requests.filter((request) => request.event === event && request.answer === 200);
      // Only the service itself knows when it saw a follower come or go.
      const [given] = received.map(({ body }) => ({ ...JSON.parse(body).data, observedAt: undefined }));
      return received.length === 1 && isSame(given, data);
    }),
  );
}

function checkChannel(requests) {
  const [message] = requests.map(({ body }) => JSON.parse(body));
  const text = message.blocks.map((block) => block.text?.text ?? '').join('\n');
  check(
    'the channel got one signed message, about the job that failed',
    requests.length === 1 &&
      requests[0].isVerified &&
      message.text === 'operation.failed' &&
      text.includes('error.message: The report source is offline.'),
  );
}

async function settledLog(api, webhookId) {
  return waitFor('a log in which nothing is pending', async () => {
    const { data: rows = [] } = await api('GET', `/api/webhooks/${webhookId}/deliveries`);
    const isSettled = rows.length > ALL.length && rows.every(({ status }) => status !== 'pending');
    return isSettled && rows.sort((a, b) => a.attemptedAt.localeCompare(b.attemptedAt));
  });
}

function checkLog(log, requests) {
  const inLog = log.map(({ id, event, attempt, responseStatus }) => [id, event, attempt, responseStatus].join());
  const inFact = requests.map(({ id, event, attempt, answer }) => [id, event, attempt, answer].join());
  check('the log tells what the receiver saw, attempt by attempt', isSame(inLog.sort(), inFact.sort()));
  const failed = log.filter(({ status }) => status === 'failed');
  check(
    'the one failed row says why, and when the next attempt was due',
    failed.length === 1 && failed[0].error.code === 'http_status' && failed[0].nextAttemptAt !== null,
  );
}

// ---------------------------------------------------------------------------------------------- the service

async function makeFolder(cleanup) {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-demo-'));
  cleanup.add(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  // PostgreSQL never runs as root: started by root, it runs as another user, who must be able to pass through here.
  await chmod(folder, 0o711);
  return folder;
}

async function startService(folder, cleanup) {
  if (!existsSync(SERVICE)) throw new Error(`${SERVICE} is missing: run \`npm run build\`, or start with npm run demo`);
  const dataDir = join(folder, 'data');
  const queues = { MONITORED_QUEUES: QUEUE, AUTOMATION_QUEUES: QUEUE, QUEUE_EVENTS_USER: 'admin' };
  const settings = {
    DATA_DIR: dataDir,
    PORT: '0',
    RETRY_BASE_DELAY_MS: String(RETRY_AFTER_MS),
    LOG_LEVEL: 'warn',
    ...queues,
  };
  const child = spawn(process.execPath, [SERVICE], {
    cwd: folder, // where there is no .env
    detached: true, // Ctrl-C is for this process, which then ends the service in order
    env: { ...systemEnvironment(), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const service = { child, dataDir, output: '', error: /** @type {Error | null} */ (null) };
  child.on('error', (error) => (service.error = error));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (service.output += chunk));

  let stopping;
  const stop = () => (stopping ??= stopService(service));
  cleanup.add(stop);
  const url = await waitFor('the service to start', () => urlOf(service) || refuseEnded(service));
  return { url, dataDir, stop };
}

/** Only the variables that programs need to run: settings of the surrounding shell do not apply to the demo. */
function systemEnvironment() {
  const names = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LD_LIBRARY_PATH'];
  return Object.fromEntries(names.filter((name) => name in process.env).map((name) => [name, process.env[name]]));
}

const urlOf = ({ output }) => /API +(http:\S+)\/api/.exec(output)?.[1];

const hasEnded = ({ child, error }) => error !== null || child.exitCode !== null || child.signalCode !== null;

function refuseEnded(service) {
  if (hasEnded(service)) throw new Error(`the service ended instead of starting:\n${service.error ?? service.output}`);
}

/** Stops the service and returns its exit code; null when it had to be killed. */
async function stopService(service) {
  const { child, dataDir } = service;
  const ended = () => hasEnded(service);
  // Before it is ready, a service does not handle signals yet, and its database would outlive it.
  await patiently(PATIENCE_MS, () => urlOf(service) || ended());
  if (!ended()) child.kill('SIGTERM');
  if (!(await patiently(20_000, ended))) child.kill('SIGKILL');
  await patiently(2_000, ended);
  await clearDatabase(dataDir);
  return child.exitCode;
}

/** Returns the folder of the embedded database: in the data folder, unless its user could not get there. */
async function placeOf(dataDir) {
  const elsewhere = (await readFile(join(dataDir, 'postgres.location'), 'utf8').catch(() => '')).trim();
  return { elsewhere, place: elsewhere || join(dataDir, 'postgres') };
}

/** After a clean end there is nothing to do, unless the database could not be in the data folder. */
async function clearDatabase(dataDir) {
  const { elsewhere, place } = await placeOf(dataDir);
  const [pid, home] = (await readFile(join(place, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  if (home === place) {
    process.kill(Number(pid), 'SIGINT');
    await patiently(10_000, () => !existsSync(join(place, 'postmaster.pid')));
  }
  if (elsewhere) await rm(dirname(elsewhere), { recursive: true, force: true });
}

/** Calls the API with a token; returns the status, and `data` or `error` of the envelope. */
function apiOf(url, token) {
  return async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.any([interruption.signal, AbortSignal.timeout(5000)]),
    });
    const envelope = /** @type {{ data?: any, error?: string }} */ (await response.json());
    return { status: response.status, ...envelope };
  };
}

// ---------------------------------------------------------------------------------------------- the queue

/** Another program's BullMQ queue, in the same PostgreSQL as the service: two jobs, and a worker for them. */
async function runJobs({ dataDir }, cleanup) {
  const password = (await readFile(join(dataDir, 'postgres.password'), 'utf8')).trim();
  const { place } = await placeOf(dataDir);
  const port = (await readFile(join(place, 'postmaster.pid'), 'utf8')).split('\n')[3];
  const options = {
    connection: {
      connectionString: `postgres://webhook_service:${password}@127.0.0.1:${port}/webhook_service`,
      max: 2,
      migrate: true,
    },
  };
  const queue = new Queue(QUEUE, options, createPostgresBackend);
  const worker = new Worker(QUEUE, work, options, createPostgresBackend);
  queue.on('error', () => undefined);
  worker.on('error', () => undefined);
  let closing;
  const close = () => (closing ??= worker.close(true).then(() => queue.close()));
  cleanup.add(close);
  const [succeeds, fails] = [await queue.add('export', { rows: 1280 }), await queue.add('import', {})];
  detail('queue.add', `jobs ${succeeds.id} (succeeds) and ${fails.id} (fails)`);
  return { succeeds: succeeds.id, fails: fails.id, close };
}

async function work({ name, data }) {
  if (name === 'import') throw new Error('The report source is offline.');
  return { rows: data.rows };
}

// ---------------------------------------------------------------------------------------------- the receiver

async function startReceiver(cleanup) {
  const requests = [];
  const server = createServer((request, response) => {
    receive(request, requests).then(
      (answer) => response.writeHead(answer).end(),
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.add(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://localhost:${port}/hooks`, requests };
}

async function receive(incoming, requests) {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const header = (name) => incoming.headers[name];
  const event = header('x-service-event');
  const isFirst = requests.every((request) => request.event !== event);
  const signature = header('x-service-signature');
  const request = {
    id: header('x-service-delivery'),
    event,
    attempt: Number(header('x-service-attempt')),
    signature,
    isVerified: isSigned(body, signature, SECRET),
    body,
    answer: event === FAILS_ONCE && isFirst ? 500 : 200,
  };
  requests.push(request);
  showArrival(request);
  return request.answer;
}

/** The verification that every receiver needs: compute the signature over the raw body, and compare it in constant time. */
function isSigned(body, signature, secret) {
  const expected = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'));
  const given = Buffer.from(signature ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

// ---------------------------------------------------------------------------------------------- the output

const hasColour = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (hasColour ? `\u001b[${code}m${text}\u001b[0m` : text);
const [bold, dim, red, green] = [paint(1), paint(2), paint(31), paint(32)];

const say = (line) => process.stdout.write(`${line}\n`);
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const title = (text) => say(`\n${bold(text)}`);
const step = (number, text) => say(`\n${bold(`${number}  ${text}`)}`);
const detail = (what, text) => say(`   ${what}  ${dim(text)}`);

function showArrival({ event, attempt, isVerified, answer }) {
  const verdict = isVerified ? green('signature verified') : red('signature WRONG');
  const answered = answer === 200 ? `answered ${answer}` : red(`answered ${answer}`);
  const note = attempt > 1 ? dim('  the retry') : '';
  say(`   ${bold('←')} POST ${event.padEnd(20)} attempt ${attempt}  ${verdict}  ${answered}${note}`);
}

function table(rows) {
  const lines = rows.map(({ event, attempt, status, responseStatus, durationMs, error, nextAttemptAt }) => [
    event,
    attempt,
    status,
    responseStatus ?? '-',
    `${durationMs ?? '-'} ms`,
    error?.code ?? '',
    nextAttemptAt?.slice(11, 23) ?? '',
  ]);
  const head = ['event', 'attempt', 'status', 'answer', 'took', 'error', 'next attempt'];
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => String(line[column]).length)));
  const row = (cells) =>
    `   ${cells.map((cell, column) => String(cell).padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  say(dim(row(head)));
  say(dim(row(widths.map((width) => '─'.repeat(width)))));
  for (const line of lines) say(row(line));
}

function check(claim, holds) {
  checks.push(holds);
  say(`   ${holds ? green('✔') : red('✘')} ${claim}`);
}

// ---------------------------------------------------------------------------------------------- helpers

/** Polls until the result is truthy, or until Ctrl-C. */
async function waitFor(what, probe) {
  const answer = await patiently(PATIENCE_MS, () => {
    interruption.signal.throwIfAborted();
    return probe();
  });
  if (!answer) throw new Error(`timed out waiting for ${what}`);
  return answer;
}

async function patiently(ms, probe) {
  const giveUpAt = performance.now() + ms;
  for (;;) {
    const answer = await probe();
    if (answer || performance.now() > giveUpAt) return answer;
    await pause(10);
  }
}

const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Undoes the steps in reverse order, each of them once. */
function newCleanup() {
  const undo = [];
  return {
    add: (step) => undo.push(step),
    run: async () => {
      while (undo.length > 0) await undo.pop()();
    },
  };
}

/** Ends the demo at its next wait; then everything is cleaned up as after any other failure. */
function interrupt(reason) {
  if (!interruption.signal.aborted) interruption.abort(new Error(`interrupted (${reason}), cleaning up`));
}

async function main() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, interrupt);
  process.stdout.on('error', () => interrupt('nobody reads this'));
  const cleanup = newCleanup();
  try {
    await tell(cleanup);
  } catch (error) {
    check(/** @type {Error} */ (error).message, false);
  } finally {
    await cleanup.run();
  }
  const failed = checks.filter((holds) => !holds).length;
  const took = seconds(performance.now() - startedAt);
  if (failed === 0) say(`\n${green(`All ${checks.length} checks hold.`)} ${dim(took)}\n`);
  else say(`\n${red(`${failed} of ${checks.length} checks failed:`)} see ✘ above. ${dim(took)}\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
