import { FollowerReadingsRepository } from '../../../src/sources/followers/readings/follower-readings.repository';
import { ReadingAbandoned } from '../../../src/sources/followers/follower';
import { SeededRandom } from '../../support/seeded-random';
import { FollowerMonitor, type PublishedChange, useFollowerMonitor } from '../stage/follower-monitor';
import { type Interrupt, isoIn, type ServedFollower, useFollowerServer } from '../../support/follower-server';
import { waitFor } from '../../support/wait-for';

const PROVIDERS = ['mastodon', 'bluesky'] as const;
const follower = (i: number): ServedFollower => ({
  id: `id-${i}`,
  name: `user${i}@far.example`,
  displayName: `User ${i}`,
});
const followers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => follower(from + i));

const server = useFollowerServer();
const monitor = useFollowerMonitor(server);
let users = 0;

async function connect(provider: (typeof PROVIDERS)[number], intervalSeconds = 300) {
  users += 1;
  const handle = provider === 'mastodon' ? `ada@${server.host}` : 'ada.example.org';
  const userId = `user-${users}`;
  const { id } = await monitor.accounts.create(userId, { provider, handle, intervalSeconds });
  return { id, read: () => monitor.accounts.read(userId, id), remove: () => monitor.accounts.remove(userId, id) };
}

/** Connects an account and reads it for the first time. */
async function connected(provider: (typeof PROVIDERS)[number], list: readonly ServedFollower[]) {
  server.serve(list);
  const account = await connect(provider);
  // It is due at once, by a clock that this process knows only approximately.
  expect(await waitFor(() => monitor.readDue(), { what: 'the first reading' })).toBe(1);
  expect(await account.read()).toMatchObject({ followersCount: list.length, lastError: null });
  expect(await monitor.events(account.id)).toEqual([]);
  return account;
}

const summary = (events: readonly PublishedChange[]) =>
  events.map(({ event, data }) => `${event} ${data.follower.id}`).sort();

describe.each(PROVIDERS)('An account on %s', (provider) => {
  it('reports exactly the gained and lost followers over ten readings with random changes', async () => {
    const seed = Date.now() % 1_000_000;
    process.stdout.write(`follower readings of ${provider}: seed ${seed}\n`);
    const random = new SeededRandom(seed);
    let current = followers(random.between(150, 400));
    const account = await connected(provider, current);
    let next = 1000;
    for (let reading = 1; reading <= 10; reading += 1) {
      const lost = random.shuffled(current).slice(0, random.between(0, 40));
      const gained = followers(random.between(0, 120), next);
      next += 1000;
      current = [...gained, ...current.filter((one) => !lost.includes(one))];
      server.serve(current);
      const before = (await monitor.events(account.id)).length;
      await monitor.readNow(account.id);
      const events = (await monitor.events(account.id)).slice(before);
      expect(summary(events)).toEqual(
        [...gained.map(({ id }) => `follower.gained ${id}`), ...lost.map(({ id }) => `follower.lost ${id}`)].sort(),
      );
      const { followersCount, lastReadAt, lastError } = await account.read();
      expect({ followersCount, lastError }).toEqual({ followersCount: current.length, lastError: null });
      for (const { data } of events) {
        expect(data).toMatchObject({ followersCount, observedAt: lastReadAt?.toISOString() });
      }
      expect(await monitor.rows(account.id)).toEqual({ known: current.map(({ id }) => id).sort(), staged: 0 });
    }
  });

  it('names a follower as the provider does', async () => {
    const account = await connected(provider, [follower(1)]);
    server.serve([{ id: 'did:plc:bob', name: 'bob', displayName: 'Bob 🔑' }, { id: 'x', name: 'x' }, follower(1)]);
    await monitor.readNow(account.id);
    const at = provider === 'mastodon' ? `@${server.host}` : '';
    expect((await monitor.events(account.id)).map(({ data }) => data.follower)).toEqual([
      { id: 'did:plc:bob', username: `bob${at}`, displayName: 'Bob 🔑' },
      { id: 'x', username: `x${at}` },
    ]);
  });

  it('counts a follower who is on two pages once, and reports no new name', async () => {
    const account = await connected(provider, followers(250));
    server.serve([...followers(251), ...followers(120)]);
    await monitor.readNow(account.id);
    server.serve(followers(251).map((one) => ({ ...one, name: `new-${one.name}` })));
    await monitor.readNow(account.id);
    expect(summary(await monitor.events(account.id))).toEqual(['follower.gained id-250']);
    expect(await account.read()).toMatchObject({ followersCount: 251 });
    server.serve(followers(250).map((one) => ({ ...one, name: `new-${one.name}` })));
    await monitor.readNow(account.id);
    expect((await monitor.events(account.id)).at(-1)?.data.follower.username).toBe('new-user250@far.example');
  });

  it('does not report followers who leave and return between two readings', async () => {
    const account = await connected(provider, followers(3));
    server.serve(followers(2));
    server.serve(followers(3).reverse());
    await monitor.readNow(account.id);
    expect(await monitor.events(account.id)).toEqual([]);
  });

  it('is read at most once per interval', async () => {
    const account = await connected(provider, followers(3));
    expect(await monitor.dueInSeconds(account.id)).toBeGreaterThan(290);
    expect(await monitor.dueInSeconds(account.id)).toBeLessThanOrEqual(301);
    expect(await monitor.readDue()).toBe(0);
  });

  const PAGE = { status: 200, headers: { 'content-type': 'application/json' } };
  const BIG = JSON.stringify('x'.repeat(4_300_000));
  it.each<[string, Interrupt, RegExp]>([
    ['401', () => ({ status: 401, body: { error: 'This method requires an authenticated user' } }), /to the public/],
    ['403', () => ({ status: 403, body: { error: 'This action is not allowed' } }), /to the public/],
    ['404', () => ({ status: 404, body: { error: 'Record not found' } }), /has no such account/],
    ['410', () => ({ status: 410, body: { error: 'Gone' } }), /has no such account/],
    ['500', () => ({ status: 500, body: 'Internal error of 10.0.0.7' }), /returned status 500\.$/],
    ['a redirect', (url) => ({ status: 302, headers: { location: `${url.origin}/stolen` } }), /redirect/],
    ['HTML', () => ({ ...PAGE, body: '<html>' }), /did not return a list/],
    ['an object instead of a list', () => ({ ...PAGE, body: { followers: 5 } }), /did not return a list/],
    ['a list of something else', () => ({ ...PAGE, body: [{ id: 5 }] }), /did not return a list/],
    ['more than 4 MiB', () => ({ ...PAGE, body: BIG }), /more than 4 MiB/],
  ])('changes nothing when its second page is %s', async (_, how, message) => {
    const account = await connected(provider, followers(250));
    const before = await account.read();
    server.serve(followers(250, 100));
    const isSecondPage = (url: URL) => /max_id|cursor/.test(url.search);
    server.interrupt((url, nth) => (isSecondPage(url) ? how(url, nth) : undefined));
    const asked = server.requests.length;
    await monitor.readNow(account.id);
    const after = await account.read();
    expect(after.lastError).toMatch(message);
    expect(after.lastError).not.toMatch(/10\.0\.0\.7/);
    expect(after).toMatchObject({ followersCount: 250, lastReadAt: before.lastReadAt, readingId: null });
    expect(await monitor.events(account.id)).toEqual([]);
    expect(await monitor.rows(account.id)).toEqual({
      known: followers(250)
        .map(({ id }) => id)
        .sort(),
      staged: 0,
    });
    expect(server.requests.slice(asked).filter((request) => request.includes('stolen'))).toEqual([]);
    expect(await monitor.dueInSeconds(account.id)).toBeGreaterThan(290);

    server.interrupt();
    await monitor.readNow(account.id);
    expect(await account.read()).toMatchObject({ followersCount: 250, lastError: null });
    expect(await monitor.events(account.id)).toHaveLength(200);
  });

  it.each<[string, () => Record<string, string>, number]>([
    ['retry-after in seconds', () => ({ 'retry-after': '900' }), 900],
    ['retry-after as a date', () => ({ 'retry-after': new Date(Date.now() + 900_000).toUTCString() }), 900],
    ['x-ratelimit-reset', () => ({ 'x-ratelimit-reset': isoIn(1200) }), 1200],
    ['ratelimit-reset', () => ({ 'ratelimit-reset': String(Math.round(Date.now() / 1000) + 1500) }), 1500],
    ['a reset before the interval is over', () => ({ 'retry-after': '5' }), 300],
    ['a reset in a week', () => ({ 'x-ratelimit-reset': isoIn(604_800) }), 86_400],
    ['no header', () => ({}), 300],
  ])('that is rate-limited with %s is next read at the right time', async (_, headers, seconds) => {
    const account = await connected(provider, followers(3));
    server.interrupt(() => ({ status: 429, headers: headers(), body: { error: 'Throttled' } }));
    await monitor.readNow(account.id);
    expect((await account.read()).lastError).toMatch(/wants fewer requests/);
    const dueIn = await monitor.dueInSeconds(account.id);
    expect(dueIn).toBeGreaterThan(seconds - 15);
    expect(dueIn).toBeLessThanOrEqual(seconds + 2);
  });

  it('accepts pages of two megabytes', async () => {
    const long = (from: number) => followers(240, from).map((one) => ({ ...one, displayName: 'x'.repeat(26_000) }));
    const account = await connected(provider, [...long(0), follower(999)]);
    server.serve(long(0));
    await monitor.readNow(account.id);
    expect(summary(await monitor.events(account.id))).toEqual(['follower.lost id-999']);
  });

  it('loses all followers only when the next reading confirms it', async () => {
    const account = await connected(provider, followers(3));
    server.serve([], { followersCount: 0 });
    await monitor.readNow(account.id);
    expect(await account.read()).toMatchObject({ followersCount: 3, lastError: expect.stringMatching(/lost all/) });
    server.interrupt(() => ({ status: 502 }));
    await monitor.readNow(account.id);
    expect(await monitor.events(account.id)).toEqual([]);
    server.interrupt();
    await monitor.readNow(account.id);
    expect(await account.read()).toMatchObject({ followersCount: 0, lastError: null });
    expect(await monitor.events(account.id)).toHaveLength(3);
  });

  it('keeps its followers when the next reading contradicts their loss, and starts over', async () => {
    const account = await connected(provider, followers(3));
    for (const list of [[], followers(3), []]) {
      server.serve(list);
      await monitor.readNow(account.id);
      expect((await account.read()).followersCount).toBe(3);
    }
    expect(await monitor.events(account.id)).toEqual([]);
  });

  it('without followers is read without an error', async () => {
    const account = await connected(provider, []);
    await monitor.readNow(account.id);
    expect(await account.read()).toMatchObject({ followersCount: 0, lastError: null });
  });

  it('fails when a page links back to a page already read', async () => {
    const account = await connected(provider, followers(3));
    const page = { id: 'id-9', acct: 'nine', did: 'id-9', handle: 'nine' };
    server.interrupt((url) => {
      const link = `<${url.origin}/api/v1/accounts/7/followers?limit=80>; rel="next"`;
      if (url.pathname.endsWith('/lookup')) return undefined;
      return provider === 'mastodon'
        ? { status: 200, headers: { link }, body: [page] }
        : { status: 200, body: { followers: [page], cursor: 'again' } };
    });
    await monitor.readNow(account.id);
    expect((await account.read()).lastError).toMatch(/already read/);
    expect(await monitor.events(account.id)).toEqual([]);
  });

  it('that is deleted during a reading publishes nothing and leaves no rows', async () => {
    const account = await connected(provider, followers(250));
    server.serve(followers(300, 100));
    server.interrupt(async (url) => {
      if (/max_id|cursor/.test(url.search)) await account.remove().catch(() => undefined);
      return undefined;
    });
    await monitor.readNow(account.id);
    await expect(account.read()).rejects.toThrow(/no account/);
    expect(await monitor.events(account.id)).toEqual([]);
    while (await monitor.app.get(FollowerReadingsRepository).deletePage());
    expect(await monitor.rows(account.id)).toEqual({ known: [], staged: 0 });
  });

  it('is read once by two replicas, and every follower is reported once', async () => {
    const account = await connected(provider, followers(250));
    const other = await FollowerMonitor.start(server, monitor.database);
    try {
      server.serve(followers(300));
      await monitor.makeDue(account.id);
      const asked = server.requests.length;
      const counts = await Promise.all([monitor.readDue(), other.readDue(), monitor.readDue(), other.readDue()]);
      expect(counts.sort()).toEqual([0, 0, 0, 1]);
      expect(server.requests.length - asked).toBe(provider === 'mastodon' ? 5 : 3);
      expect(await monitor.events(account.id)).toHaveLength(50);
    } finally {
      await other.stop({ dropDatabase: false });
    }
  });

  it('is read again by another process when its reader is lost, whose late pages are ignored', async () => {
    const account = await connected(provider, followers(250));
    server.serve(followers(300));
    let goOn = () => {};
    const held = new Promise<undefined>((resolve) => (goOn = () => resolve(undefined)));
    server.interrupt((url, nth) => (nth <= 3 && /max_id|cursor/.test(url.search) ? held : undefined));
    await monitor.makeDue(account.id);
    const [lost] = await monitor.readings.claim(1);
    const asked = server.requests.length;
    const end = monitor.readings.read(lost!);
    await waitFor(() => server.requests.slice(asked).some((request) => /max_id|cursor/.test(request)), {
      what: 'the second page of the lost reader',
    });
    server.interrupt();
    await monitor.readNow(account.id);
    goOn();
    await end;
    expect(await monitor.events(account.id)).toHaveLength(50);
    expect(await account.read()).toMatchObject({ followersCount: 300, lastError: null });
    expect(await monitor.rows(account.id)).toMatchObject({ staged: 0 });
  });

  it('is released to another process at once when this one stops', async () => {
    const account = await connected(provider, followers(250));
    server.serve(followers(300));
    const stop = new AbortController();
    server.interrupt((url) => void (/max_id|cursor/.test(url.search) && stop.abort()));
    await monitor.makeDue(account.id);
    await monitor.readDue(stop.signal);
    expect(await monitor.events(account.id)).toEqual([]);
    expect(await account.read()).toMatchObject({ readingId: null, lastError: null });
    server.interrupt();
    expect(await monitor.readDue()).toBe(1);
    expect(await monitor.events(account.id)).toHaveLength(50);
  });
});

describe('An account on mastodon', () => {
  it('is never read from another server', async () => {
    const account = await connected('mastodon', followers(250));
    const asked = server.requests.length;
    server.interrupt((url) =>
      url.pathname.endsWith('/followers')
        ? { status: 200, headers: { link: `<https://localhost:${url.port}/stolen>; rel="next"` }, body: [] }
        : undefined,
    );
    server.serve(followers(1), { followersCount: 0 });
    await monitor.readNow(account.id);
    expect((await account.read()).lastError).toMatch(/another server/);
    expect(server.requests.slice(asked).join()).not.toContain('stolen');
  });

  it('that hides its followers does not lose them', async () => {
    const account = await connected('mastodon', followers(3));
    for (let reading = 0; reading < 2; reading += 1) {
      server.serve([], { followersCount: 3 });
      await monitor.readNow(account.id);
    }
    expect(await account.read()).toMatchObject({ followersCount: 3, lastError: expect.stringMatching(/hidden/) });
  });

  it('fails at a deadline when its server does not respond', async () => {
    const account = await connected('mastodon', followers(3));
    let goOn = () => {};
    const held = new Promise<undefined>((resolve) => (goOn = () => resolve(undefined)));
    server.interrupt(() => held);
    await monitor.readNow(account.id);
    goOn();
    expect((await account.read()).lastError).toMatch(/did not respond in time/);
  });

  it('requests uncompressed pages of 80', async () => {
    const asked = server.requests.length;
    await connected('mastodon', followers(81));
    expect(server.requests.slice(asked)).toEqual([
      'GET /api/v1/accounts/lookup?acct=ada',
      'GET /api/v1/accounts/7/followers?limit=80',
      'GET /api/v1/accounts/7/followers?limit=80&max_id=80',
    ]);
    expect(server.headers).toMatchObject({ 'accept-encoding': 'identity', accept: 'application/json' });
  });
});

describe('A reader that has lost its account', () => {
  it('changes nothing anymore, whatever it still does, and keeps the pages of the new reader', async () => {
    const account = await connected('bluesky', followers(3));
    const page = (count: number) => followers(count).map(({ id, name }) => ({ id, username: name }));
    const rows = monitor.app.get(FollowerReadingsRepository);
    await monitor.makeDue(account.id);
    const [lost] = await rows.claim(1);
    await rows.stage(lost!, page(2));
    await monitor.makeDue(account.id);
    const [present] = await rows.claim(1);
    expect(present).toMatchObject({ id: lost!.id });
    await rows.begin(present!);
    expect(await monitor.rows(account.id)).toMatchObject({ staged: 0 });
    await rows.stage(present!, page(4));

    const before = await account.read();
    const settle = jest.fn();
    await rows.begin(lost!);
    await expect(rows.stage(lost!, page(9))).rejects.toThrow(ReadingAbandoned);
    await expect(rows.finish(lost!, settle)).rejects.toThrow(ReadingAbandoned);
    await rows.fail(lost!, 'too late', 0);
    await rows.release(lost!);
    expect(settle).not.toHaveBeenCalled();
    expect(await account.read()).toEqual(before);
    expect(await monitor.rows(account.id)).toMatchObject({ staged: 4 });
  });
});

describe('An account whose next reading was set by a clock that was ahead', () => {
  it('is read now, even when a reading was in progress', async () => {
    const account = await connected('bluesky', followers(3));
    await monitor.database.query(
      `update webhook_service.accounts set next_reading_at = now() + interval '10 years', reading_id = gen_random_uuid()
       where id = $1`,
      [account.id],
    );
    expect((await monitor.readings.claim(100)).map(({ id }) => id)).toEqual([account.id]);
  });
});

describe('The accounts of one user', () => {
  it.each(['-1 second', '10 years'])('are read three at a time when each is due at now + %s', async (due) => {
    const handle = `ada@${server.host}`;
    const greedy = `greedy ${due}`;
    for (let i = 0; i < 5; i += 1) await monitor.accounts.create(greedy, { provider: 'mastodon', handle });
    const modest = await connect('mastodon');
    await monitor.database.query(`update webhook_service.accounts set next_reading_at = now() + interval '1 day'`);
    await monitor.database.query(
      `update webhook_service.accounts set next_reading_at = now() + $1::interval where user_id = $2 or id = $3`,
      [due, greedy, modest.id],
    );
    const claimed = await monitor.readings.claim(100);
    expect(claimed).toHaveLength(4);
    expect(claimed.map(({ id }) => id)).toContain(modest.id);
    expect(await monitor.readings.claim(100)).toEqual([]);
    await monitor.readings.read(claimed.find(({ id }) => id !== modest.id)!);
    expect(await monitor.readings.claim(100)).toHaveLength(1);
  });
});
