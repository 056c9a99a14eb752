import { type Account, allPagesOf, type Api, dataOf, errorOf } from '../../support/api';
import { useService } from '../../support/service';
import { EXAMPLES, ISO_UTC, UNKNOWN_ID, UUID_V7 } from '../../e2e/stage/examples';

const PUSH = { provider: 'push', handle: 'my shop' };

describe('Social accounts', () => {
  const service = useService({ ALLOWED_NETWORKS: undefined });
  let alice: Api;
  let bob: Api;
  beforeAll(async () => {
    [alice, bob] = await Promise.all([
      service.apiFor('alice', ['accounts:manage']),
      service.apiFor('bob', ['accounts:manage']),
    ]);
  });
  afterEach(async () => {
    for (const api of [alice, bob]) {
      for (const { id } of await dataOf(api.listAccounts())) await dataOf(api.deleteAccount(id));
    }
  });

  it('are connected, read, listed and deleted', async () => {
    const account = await dataOf(alice.createAccount(PUSH), 201);
    expect(account).toEqual({
      id: expect.stringMatching(UUID_V7),
      provider: 'push',
      handle: 'my shop',
      intervalSeconds: 300,
      followersCount: null,
      lastReadAt: null,
      lastError: null,
      createdAt: expect.stringMatching(ISO_UTC),
    });
    expect(await dataOf(alice.readAccount(account.id))).toEqual(account);
    expect(await dataOf(alice.listAccounts())).toEqual([account]);
    expect(await dataOf(alice.deleteAccount(account.id))).toEqual({ id: account.id });
    expect(await dataOf(alice.listAccounts())).toEqual([]);
    await errorOf(alice.readAccount(account.id), 404);
  });

  it.each([
    ['mastodon', '@Ada@BÜCHER.example', 'Ada@xn--bcher-kva.example'],
    ['mastodon', 'ada@social.example:443', 'ada@social.example'],
    ['bluesky', '@Ada.BSKY.social', 'ada.bsky.social'],
    ['push', 'Ölçer & Söhne', 'Ölçer & Söhne'],
  ])('of %s have their handle %s in the form %s', async (provider, handle, canonical) => {
    const account = await dataOf(alice.createAccount({ provider, handle, intervalSeconds: 86_400 }), 201);
    expect(account).toMatchObject({ provider, handle: canonical, intervalSeconds: 86_400 });
  });

  it.each<[string, object, RegExp]>([
    ['an unknown provider', { provider: 'myspace', handle: 'tom' }, /provider must be one of mastodon, bluesky, push/],
    ['no handle', { provider: 'push' }, /handle must be/],
    ['an interval under a minute', { ...PUSH, intervalSeconds: 59 }, /intervalSeconds/],
    ['an interval over a day', { ...PUSH, intervalSeconds: 86_401 }, /intervalSeconds/],
    ['an interval as text', { ...PUSH, intervalSeconds: '300' }, /intervalSeconds/],
    ['an unknown field', { ...PUSH, followersCount: 5 }, /followersCount is not a known field/],
    ['a Mastodon handle without a server', { provider: 'mastodon', handle: 'ada' }, /ada@mastodon\.social/],
    ['a server on this machine', { provider: 'mastodon', handle: 'ada@127.0.0.1:8443' }, /ALLOWED_NETWORKS/],
    ['a server that spells it otherwise', { provider: 'mastodon', handle: 'ada@2130706433' }, /ALLOWED_NETWORKS/],
    ['a server in the metadata network', { provider: 'mastodon', handle: 'ada@169.254.169.254' }, /ALLOWED_NETWORKS/],
    ['a server called localhost', { provider: 'mastodon', handle: 'ada@localhost' }, /ALLOWED_NETWORKS/],
    ['a Bluesky handle that is no domain', { provider: 'bluesky', handle: 'ada' }, /ada\.bsky\.social/],
    ['a control character', { provider: 'push', handle: 'my\u0007shop' }, /control characters/],
  ])('are refused with %s', async (_, body, message) => {
    expect(await errorOf(alice.createAccount(body), 400)).toMatch(message);
    expect(await dataOf(alice.listAccounts())).toEqual([]);
  });

  it('are at most 20 a user, also when 30 are connected at once', async () => {
    const replies = await Promise.all(Array.from({ length: 30 }, () => alice.createAccount(PUSH)));
    expect(replies.map(({ status }) => status).sort()).toEqual([
      ...Array<number>(20).fill(201),
      ...Array<number>(10).fill(409),
    ]);
    expect(await errorOf(alice.createAccount(PUSH), 'account_limit_reached')).toMatch(/20 accounts/);
    await dataOf(bob.createAccount(PUSH), 201);
    const pages = await allPagesOf<Account>(alice.listAccounts, { limit: 8 });
    expect(pages.map(({ length }) => length)).toEqual([8, 8, 4]);
    expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(20);
  });

  it('of others are unknown, and take the scope accounts:manage', async () => {
    const { id } = await dataOf(alice.createAccount(PUSH), 201);
    const body = { followers: [] };
    const calls = [
      (api: Api, account: string) => api.readAccount(account),
      (api: Api, account: string) => api.putFollowers(account, body),
      (api: Api, account: string) => api.deleteAccount(account),
    ];
    const stranger = await service.apiFor('alice', ['webhooks:write']);
    for (const call of calls) {
      expect(await errorOf(call(bob, id), 404)).toBe(await errorOf(call(bob, UNKNOWN_ID), 404));
      expect(await errorOf(call(stranger, id), 403)).toContain('accounts:manage');
    }
    await errorOf(stranger.createAccount(PUSH), 403);
    await errorOf(stranger.listAccounts(), 403);
    expect(await dataOf(alice.readAccount(id))).toMatchObject({ id, lastReadAt: null });
  });

  describe('given a list of followers', () => {
    let account: Account;
    beforeEach(async () => {
      account = await dataOf(alice.createAccount(PUSH), 201);
    });
    const put = (followers: unknown) => alice.putFollowers(account.id, { followers });

    it.each<[string, unknown, RegExp]>([
      ['no list', undefined, /followers must be a list/],
      ['a follower without an id', [{ username: 'ada' }], /followers\[0]\.id must be/],
      ['an id that is a number', [{ id: 1, username: 'ada' }], /followers\[0]\.id must be/],
      ['an empty id', [{ id: '', username: 'ada' }], /followers\[0]\.id must be/],
      ['a NUL in a name', [{ id: '1', username: 'a\0da' }], /followers\[0]\.username must be/],
      ['an unknown field', [{ id: '1', username: 'ada', email: 'a@b' }], /followers\[0]\.email is not a known field/],
      ['a follower that is none', ['ada'], /followers\[0]\.id must be/],
      ['a repeated id', ['1', '2', '1'].map((id) => ({ id, username: id })), /^followers\[2]\.id is repeated$/],
    ])('refuse %s', async (_, followers, message) => {
      expect(await errorOf(put(followers), 400)).toMatch(message);
      expect(await dataOf(alice.readAccount(account.id))).toEqual(account);
    });

    it('refuse one that is read by the service itself', async () => {
      const read = await dataOf(alice.createAccount({ provider: 'bluesky', handle: 'ada.example.org' }), 201);
      expect(await errorOf(alice.putFollowers(read.id, { followers: [] }), 'not_a_push_account')).toMatch(
        /provider push/,
      );
    });

    it('take 100,000 and up to 16 MiB, and refuse one more of either', async () => {
      const many = (count: number, name: string) =>
        Array.from({ length: count }, (__, i) => ({ id: `${i}`, username: `${name}${i}` }));
      expect(await dataOf(put(many(100_000, 'x'.repeat(100))))).toEqual({
        followersCount: 100_000,
        gained: 0,
        lost: 0,
      });
      expect(await errorOf(put(many(100_001, 'x')), 400)).toMatch(/at most 100000/);
      // The answer comes while the body is still being sent, which the client may notice first.
      const tooLarge = await put(many(100_000, 'y'.repeat(150))).then(
        ({ status }) => status,
        ({ code }: NodeJS.ErrnoException) => code,
      );
      expect([413, 'EPIPE', 'ECONNRESET']).toContain(tooLarge);
      expect(await dataOf(put(many(100_000, 'z')))).toEqual({ followersCount: 100_000, gained: 0, lost: 0 });
    });

    it('leave the bounds of other bodies as they are', async () => {
      const padding = 'x'.repeat(66_000);
      await errorOf(alice.createAccount({ ...PUSH, padding }), 413);
      const publisher = await service.apiFor('alice');
      const data = { ...EXAMPLES['follower.gained'], padding };
      await dataOf(publisher.publish({ event: 'follower.gained', data }), 202);
      await errorOf(publisher.publish({ event: 'follower.gained', data: { ...data, more: padding } }), 413);
    });
  });
});
