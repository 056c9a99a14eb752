// Starts services on fresh stores, and calls their API as a user would.
import { randomBytes } from 'node:crypto';
import { request } from 'undici';
import { closedLoop } from '../loops.mjs';
import { EVENT } from '../payload.mjs';
import { postmasterOf, treeCpuMs } from './cpu.mjs';
import { Remote } from './remote.mjs';

const TOKEN = `wns_${randomBytes(32).toString('base64url')}`;
const SETTINGS = {
  HOST: '127.0.0.1',
  PORT: '0',
  SECRETS_KEY: randomBytes(32).toString('base64'),
  BOOTSTRAP_TOKEN: TOKEN,
  ALLOWED_NETWORKS: '127.0.0.0/8',
  RATE_LIMIT_PER_MINUTE: '0',
  MAX_WEBHOOKS_PER_USER: '10000',
  LOG_LEVEL: 'warn',
};
const WARM_UP_EVENTS = 500;

/** @typedef {{ success: boolean, data?: any, nextCursor?: string | null, error?: string }} Envelope a response of the API */

/** A service on its own stores, ready to process requests; more processes may join. */
export class Service {
  #processes = [];
  /** @type {string} of the API, once a process runs */
  url;

  constructor(store) {
    this.store = store;
  }

  static async start(bench, queue, settings = {}) {
    const service = new Service(await bench.stores.fresh(queue));
    bench.cleanUp(() => service.end());
    await service.addProcess(settings);
    return service;
  }

  /** Adds a process of the service on the same stores. */
  async addProcess(settings = {}) {
    const remote = new Remote('service.process.mjs', { ...SETTINGS, ...this.store.settings, ...settings });
    this.#processes.push(remote);
    const url = await remote.ask('url');
    this.url ??= url;
    return remote;
  }

  get first() {
    return this.#processes[0];
  }

  /** Calls the API and returns the data of the response. */
  async call(method, path, body, token = TOKEN) {
    const answer = await request(this.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    });
    const { success, ...envelope } = /** @type {Envelope} */ (await answer.body.json());
    if (!success) throw new Error(`${method} ${path} was answered with ${answer.statusCode}: ${envelope.error}`);
    return envelope;
  }

  async query(sql, parameters) {
    return this.store.query(sql, parameters);
  }

  /** Processor time in ms that its processes and its stores have used; only the difference of two readings is meaningful. */
  async cpuMs() {
    const { redisPid } = this.store;
    const stores = [await postmasterOf(this), ...(redisPid ? [redisPid] : [])];
    return [...this.#processes.map(({ pid }) => pid), ...stores].reduce((sum, pid) => sum + treeCpuMs(pid), 0);
  }

  /** Ends its processes and drops its database. */
  async end() {
    const { store } = this;
    this.store = undefined;
    await Promise.all(this.#processes.splice(0).map((remote) => remote.kill()));
    await store?.drop();
  }
}

/** Creates a user with this many webhooks, all for the same event. Its group is the first part of the webhooks' paths. */
export async function createAudience(
  bench,
  service,
  { user, webhooks, answers = true, prefix = answers ? '' : 'never/' },
) {
  const scopes = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];
  const { data } = await service.call('POST', '/api/tokens', { name: 'bench', userId: user, scopes });
  const group = `${user}-${randomBytes(4).toString('hex')}`;
  const secret = randomBytes(24).toString('hex');
  const paths = Array.from({ length: webhooks }, (_, i) => `/${prefix}${group}/${i}`);
  const create = async (i) => {
    const body = { url: bench.receiverUrl + paths[i], events: [EVENT], secret };
    return (await service.call('POST', '/api/webhooks', body, data.token)).data.id;
  };
  const webhookIds = await closedLoop(webhooks, 16, create);
  return { user, token: data.token, group, secret, paths, webhookIds };
}

/** Warms up compilers and pools of a fresh service and of the raw loop; these deliveries are not counted. */
export async function warmUp(bench, service) {
  const audience = await createAudience(bench, service, { user: 'warm-up', webhooks: 1 });
  const count = bench.scaled(WARM_UP_EVENTS);
  await bench.load.ask('publish', { url: service.url, token: audience.token, count, concurrency: 50 });
  await bench.receiver.ask('complete', { group: audience.group, count, timeoutMs: 60_000 });
  const raw = { url: bench.receiverUrl, paths: ['/raw/0'], secret: audience.secret, count, concurrency: 50 };
  await bench.load.ask('post', raw);
}
