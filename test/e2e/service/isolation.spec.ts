import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, dataOf, exchange } from '../../support/api';
import { followerAuthority, useFollowerServer } from '../../support/follower-server';
import {
  AUDIENCE,
  type IdentityProvider,
  ISSUER,
  makeKey,
  sign,
  startIdentityProvider,
} from '../../support/identity-provider';
import { useReceiver } from '../../support/receiver';
import { useServiceProcess } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { type Attack, ATTACKS, type Scene } from '../stage/attacks';
import { EXAMPLES } from '../stage/examples';

const isLong = process.env.LONG === '1';
/** Ten times what was measured. */
const WITHIN_MS = 5000;
/** Twenty times what a service that nobody attacks takes: when it takes longer, the machine is busy with other things. */
const STALLED_MS = 1000;
/** What `faults.md` asks of the long form. */
const LONG_P99_MS = 500;
const LONG_RATIO = 10;
const MOST_MEMORY = 600 * 2 ** 20;
const EVENT = { event: 'job.started', data: EXAMPLES['job.started'] };

/** What another user, and a load balancer, saw while a service that nobody attacks answered as usual. */
interface Seen {
  /** The statuses, each once, with the route. */
  statuses: string[];
  durations: number[];
  /** The most bytes that the process had meanwhile; 0 where the system does not tell. */
  memory: number;
}

jest.setTimeout(isLong ? 1_200_000 : 300_000);

describeOnStores('A busy or hostile user', (store) => {
  const receiver = useReceiver();
  const followers = useFollowerServer();
  const folder = mkdtempSync(join(tmpdir(), 'isolation-'));
  let provider: IdentityProvider;
  let stranger: () => Promise<string>;
  beforeAll(async () => {
    writeFileSync(join(folder, 'authority.pem'), followerAuthority.cert);
    const key = await makeKey('first');
    provider = await startIdentityProvider(key);
    let strangers = 0;
    stranger = () => sign(key, { sub: `stranger-${(strangers += 1)}`, scope: 'webhooks:read' });
  });
  const service = useServiceProcess(() => ({
    ...store.settings(),
    // The least that there may be: then a user has one request at a time.
    DATABASE_POOL_SIZE: store.name === 'Redis' && !isLong ? '2' : '10',
    RATE_LIMIT_PER_MINUTE: '600',
    PUBLISH_LIMIT_PER_MINUTE: '6000',
    DELIVERY_TIMEOUT_MS: isLong ? '10000' : '2000',
    AUTH_JWKS_URL: provider.url,
    AUTH_ISSUER: ISSUER,
    AUTH_AUDIENCE: AUDIENCE,
    NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
  }));
  /** Measured in the same moments, with queues of its own. */
  const control = useServiceProcess();
  afterAll(async () => {
    await provider.stop();
    rmSync(folder, { recursive: true });
  });

  let users = 0;
  const newUser = async (scopes?: readonly string[]): Promise<{ api: Api; token: string }> => {
    const ordinary = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];
    const token = await service.createToken(`user-${(users += 1)}`, scopes ?? ordinary);
    return { api: service.api.withToken(token), token };
  };

  /**
   * Looks ten times a second, as another user and as a load balancer do.
   * @param meanwhile gets a function that waits until it was looked so many times more
   */
  async function look(meanwhile: (looks: Scene['looks']) => Promise<unknown>): Promise<Seen> {
    const { api: other } = await newUser();
    const statuses = new Set<string>();
    const seen: Seen = { statuses: [], durations: [], memory: 0 };
    const timed = async <T>(call: Promise<T>): Promise<[T, number]> => {
      const before = performance.now();
      return [await call, performance.now() - before];
    };
    const ready = async (url: string) => {
      const ask = () => exchange(url, 'GET', '/health/ready');
      // A check has two seconds, so a load balancer believes only the second one that fails.
      const first = await ask();
      const { status, text } = first.status === 200 ? first : await ask();
      return { status: status === 200 ? '200' : `${status} ${text}` };
    };
    const lookOnce = async () => {
      const looksAt = (api: Api, url: string) =>
        Promise.all([timed(api.listWebhooks()), timed(api.publish(EVENT)), timed(ready(url))]);
      const [attacked, usual] = await Promise.all([looksAt(other, service.url), looksAt(control.api, control.url)]);
      if (usual.some(([, ms]) => ms > STALLED_MS)) return;
      for (const [i, what] of ['list', 'publish', 'ready'].entries()) statuses.add(`${what} ${attacked[i]![0].status}`);
      seen.durations.push(attacked[0][1], attacked[1][1]);
    };
    let [isOver, looked] = [false, 0];
    const looks = (count: number) => {
      const wanted = looked + count;
      return waitFor(() => isOver || looked >= wanted, { what: `${count} looks` });
    };
    const attacked = meanwhile(looks).finally(() => (isOver = true));
    // A look that is late is not made up for: a user may list 600 times a minute.
    for (let nextAt = performance.now(); !isOver; nextAt = Math.max(nextAt, performance.now() - 100) + 100) {
      await waitFor(() => performance.now() >= nextAt, { what: 'the next look', everyMs: 5 });
      await lookOnce();
      seen.memory = Math.max(seen.memory, residentBytes(service.pid));
      looked += 1;
    }
    await attacked;
    return { ...seen, statuses: [...statuses].sort() };
  }

  /** In the long form again and again for half a minute: a p99 is then no longer that of a single moment. */
  async function underAttack({ scopes, run }: Attack): Promise<Seen> {
    const { api, token } = await newUser(scopes);
    return look(async (looks) => {
      const endsAt = Date.now() + (isLong ? 30_000 : 0);
      let isRepeat = false;
      do {
        await run(api, { service, receiver, followers, isLong, isRepeat, token, looks, stranger });
        isRepeat = true;
      } while (Date.now() < endsAt);
    });
  }

  const UNHARMED = ['list 200', 'publish 202', 'ready 200'];
  let alone: Seen | undefined;
  beforeAll(async () => {
    if (isLong) alone = await look((looks) => looks(200));
  });

  it.each(ATTACKS)('does not block others by $title', async (attack) => {
    const seen = await underAttack(attack);
    followers.interrupt();
    if (alone) print(attack.title, alone, seen);
    expect(UNHARMED).toEqual(expect.arrayContaining(seen.statuses));
    expect(Math.max(0, ...seen.durations)).toBeLessThan(WITHIN_MS);
    expect(seen.memory).toBeLessThan(MOST_MEMORY);
    if (!alone) return;
    expect(percentile(seen.durations, 0.99)).toBeLessThan(LONG_P99_MS);
    expect(percentile(seen.durations, 0.99)).toBeLessThan(LONG_RATIO * percentile(alone.durations, 0.99));
  });

  it.each([500, 410])('whose webhook is locked, and answers %d, holds up no outcome of others', async (status) => {
    const [{ api: attacker }, { api: other }] = [await newUser(), await newUser()];
    const [hook, healthy] = [receiver.hook({ status }), receiver.hook()];
    const locked = await dataOf(attacker.createWebhook({ url: hook.url, events: ['*'] }), 201);
    const { id } = await dataOf(other.createWebhook({ url: healthy.url, events: ['*'] }), 201);
    const usual = await dataOf(control.api.createWebhook({ url: healthy.url, events: ['*'] }), 201);
    const recordedMs = async (api: Api, webhookId: string) => {
      const before = performance.now();
      const { id: eventId } = await dataOf(api.publish(EVENT), 202);
      const find = () => api.listDeliveries(webhookId, { status: 'succeeded', eventId });
      await waitFor(async () => (await dataOf(find())).length === 1, { what: 'an outcome' });
      return performance.now() - before;
    };
    await service.database.query('begin');
    try {
      await service.database.query('select from webhook_service.webhooks where id = $1 for update', [locked.id]);
      await dataOf(attacker.publishBatch({ events: Array.from({ length: 20 }, () => EVENT) }), 202);
      await hook.received(20);
      const [ms, usualMs] = await Promise.all([recordedMs(other, id), recordedMs(control.api, usual.id)]);
      // A statement that waits for the lock ends after eight seconds.
      expect(ms).toBeLessThan(WITHIN_MS + 10 * usualMs);
    } finally {
      await service.database.query('rollback');
    }
  });

  it('and what others have published is still delivered', async () => {
    const [{ api }, hook] = [await newUser(), receiver.hook()];
    await dataOf(api.createWebhook({ url: hook.url, events: ['*'] }), 201);
    await dataOf(api.publish(EVENT), 202);
    await waitFor(() => hook.calls.length === 1, { what: 'the delivery' });
  });

  function print(title: string, before: Seen, seen: Seen): void {
    const ms = ({ durations }: Seen) =>
      `p50 ${percentile(durations, 0.5).toFixed(0)} ms, p99 ${percentile(durations, 0.99).toFixed(0)} ms`;
    const memory = `${(seen.memory / 2 ** 20).toFixed(0)} MiB`;
    process.stdout.write(`${store.name}: ${title}: alone ${ms(before)}; attacked ${ms(seen)}; ${memory}\n`);
  }
});

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
