import { type Account, type Api, dataOf } from '../../support/api';
import { useFollowerServer, useFollowerTrust } from '../../support/follower-server';
import { type Hook, useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { cryptoSignature } from '../../support/signatures';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { ISO_UTC } from '../stage/examples';
import { subscribe } from '../stage/steps';

const [ADA, BOB, EVE] = [
  { id: 'f-1', username: 'ada', displayName: 'Ada Ölçer' },
  { id: 'f-2', username: 'bob' },
  { id: 'f-3', username: 'eve' },
];

describeOnStores('A push account', (store) => {
  const service = useService(() => store.settings());
  const receiver = useReceiver();
  let users = 0;
  let api: Api;
  let hook: Hook;
  let secret: string;
  let account: Account;

  beforeEach(async () => {
    users += 1;
    api = await service.apiFor(`user-${users}`, ['accounts:manage', 'webhooks:write', 'deliveries:read']);
    hook = receiver.hook();
    ({ secret } = await subscribe(api, hook, ['follower.*']));
    account = await dataOf(api.createAccount({ provider: 'push', handle: 'shop' }), 201);
  });

  const put = (...followers: object[]) => dataOf(api.putFollowers(account.id, { followers }));
  const bodies = async (count: number) =>
    (await hook.received(count)).map(({ body }) => JSON.parse(String(body)) as { event: string; data: object });

  it('publishes every follower gained and lost, signed, and nothing for the first list', async () => {
    expect(await put(ADA!, BOB!)).toEqual({ followersCount: 2, gained: 0, lost: 0 });
    expect(await put(ADA!, EVE!)).toEqual({ followersCount: 2, gained: 1, lost: 1 });
    expect(await put(EVE!)).toEqual({ followersCount: 1, gained: 0, lost: 1 });
    const about = { accountId: account.id, observedAt: expect.stringMatching(ISO_UTC) };
    const received = (await bodies(3)).map(({ event, data }) => ({ event, data }));
    expect(received).toHaveLength(3);
    expect(received).toEqual(
      expect.arrayContaining([
        { event: 'follower.gained', data: { ...about, follower: EVE, followersCount: 2 } },
        { event: 'follower.lost', data: { ...about, follower: BOB, followersCount: 2 } },
        { event: 'follower.lost', data: { ...about, follower: ADA, followersCount: 1 } },
      ]),
    );
    for (const { headers, body } of hook.calls) {
      expect(headers['x-service-signature']).toBe(cryptoSignature(body, secret));
    }
    expect(await dataOf(api.readAccount(account.id))).toMatchObject({
      followersCount: 1,
      lastReadAt: expect.stringMatching(ISO_UTC),
      lastError: null,
    });
  });

  it('publishes nothing for a new name, the same list, or another order, and uses the newest name', async () => {
    await put(ADA!, BOB!);
    expect(await put(BOB!, ADA!)).toEqual({ followersCount: 2, gained: 0, lost: 0 });
    expect(await put({ ...ADA, username: 'lovelace' }, BOB!)).toEqual({ followersCount: 2, gained: 0, lost: 0 });
    expect(await put(BOB!)).toEqual({ followersCount: 1, gained: 0, lost: 1 });
    const [only, ...others] = await bodies(1);
    expect(only?.data).toMatchObject({ follower: { ...ADA, username: 'lovelace' } });
    expect(others).toEqual([]);
  });

  it('counts an empty list at once: it was asked for', async () => {
    await put(ADA!, BOB!);
    expect(await put()).toEqual({ followersCount: 0, gained: 0, lost: 2 });
    expect((await bodies(2)).map(({ event }) => event)).toEqual(['follower.lost', 'follower.lost']);
  });

  it('takes lists that come at once one after the other', async () => {
    await put();
    const changes = await Promise.all([put(ADA!), put(ADA!), put(ADA!)]);
    expect(changes.map(({ gained }) => gained).sort()).toEqual([0, 0, 1]);
    expect(await bodies(1)).toHaveLength(1);
  });
});

describe('A Mastodon account', () => {
  const server = useFollowerServer();
  const receiver = useReceiver();
  const trust = useFollowerTrust();
  const service = useService(() => ({ ...trust(), DELIVERY_TIMEOUT_MS: '60000' }));

  it('is read while the servers of five other users take their time', async () => {
    server.serve([{ id: '1', name: 'ada@far.example' }]);
    let release: () => void = () => undefined;
    const silent = new Promise<undefined>((resolve) => (release = () => resolve(undefined)));
    server.interrupt(({ searchParams }) => (searchParams.get('acct') === 'slow' ? silent : undefined));
    for (let user = 1; user <= 5; user++) {
      const greedy = await service.apiFor(`greedy-${user}`, ['accounts:manage']);
      const accounts = ['slow', 'slow', 'slow'].map((name) =>
        greedy.createAccount({ provider: 'mastodon', handle: `${name}@${server.host}` }),
      );
      await Promise.all(accounts.map((account) => dataOf(account, 201)));
    }
    // So many at once were all that a process read once.
    await waitFor(() => server.requests.length >= 8, { what: 'readings of the slow servers' });
    const api = await service.apiFor('modest', ['accounts:manage']);
    const { id } = await dataOf(api.createAccount({ provider: 'mastodon', handle: `ada@${server.host}` }), 201);
    const isRead = async () => (await dataOf(api.readAccount(id))).lastReadAt !== null;
    // eslint-disable-next-line no-restricted-syntax -- half the time after which a slow server is given up
    await waitFor(isRead, { what: 'the reading of another user', timeoutMs: 30_000 }).finally(release);
    server.interrupt();
  });

  it('is read on its own, and a follower gained or lost reaches a webhook, signed', async () => {
    const api = await service.apiFor('alice', ['accounts:manage', 'webhooks:write']);
    const hook = receiver.hook();
    const { secret } = await subscribe(api, hook, ['follower.*']);
    const [ada, bob] = [
      { id: '1', name: 'ada@far.example', displayName: 'Ada' },
      { id: '2', name: 'bob' },
    ];
    server.serve([ada]);
    const { id } = await dataOf(api.createAccount({ provider: 'mastodon', handle: `ada@${server.host}` }), 201);
    const read = (count: number) =>
      waitFor(async () => (await dataOf(api.readAccount(id))).followersCount === count, { what: `${count} followers` });
    await read(1);
    // The interval is a minute at least, which no test waits for.
    const makeDue = `update webhook_service.accounts set next_reading_at = now() where id = $1`;
    server.serve([bob, ada]);
    await service.database.query(makeDue, [id]);
    await read(2);
    server.serve([bob]);
    await service.database.query(makeDue, [id]);
    await read(1);
    const calls = await hook.received(2);
    const told = calls.map(({ headers, body }) => {
      expect(headers['x-service-signature']).toBe(cryptoSignature(body, secret));
      const { event, data } = JSON.parse(String(body)) as { event: string; data: object };
      return { event, data };
    });
    const about = { accountId: id, observedAt: expect.stringMatching(ISO_UTC) };
    expect(told).toEqual(
      expect.arrayContaining([
        {
          event: 'follower.gained',
          data: { ...about, followersCount: 2, follower: { id: '2', username: `bob@${server.host}` } },
        },
        {
          event: 'follower.lost',
          data: {
            ...about,
            followersCount: 1,
            follower: { id: '1', username: 'ada@far.example', displayName: 'Ada' },
          },
        },
      ]),
    );
  });
});
