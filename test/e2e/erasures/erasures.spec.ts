import { type Api, dataOf, type Erasure, errorOf, invalidFieldsOf, pageOf } from '../../support/api';
import {
  AUDIENCE,
  type IdentityProvider,
  ISSUER,
  makeKey,
  sign,
  startIdentityProvider,
} from '../../support/identity-provider';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { leaksIn } from '../stage/canaries';
import { dumpDatabase, dumpRedis } from '../stage/dumps';
import { EXAMPLES } from '../stage/examples';
import { settledDeliveries, subscribe } from '../stage/steps';
import { MarkedUser } from './marked-user';

/** Columns in which the user has left marks. */
const PLACES = [
  ...['access_tokens.name', 'accounts.handle', 'account_followers.display_name', 'console_links.user_id'],
  ...['webhooks.url', 'webhooks.headers', 'webhooks.metadata', 'webhooks.filter', 'webhooks.external_id'],
  ...['events.body', 'events.publisher_id', 'event_keys.key', 'event_types.declared_by', 'recoveries.user_id'],
  ...['deliveries.url', 'deliveries.request_body', 'deliveries.response_headers', 'deliveries.response_body'],
].map((column) => `webhook_service.${column}`);

describeOnStores('Forgetting a user', (store) => {
  let provider: IdentityProvider;
  let jwt: string;
  let bob: Api;
  let user: MarkedUser;
  let erasure: Erasure;
  let done: Erasure;
  const receiver = useReceiver();
  const key = makeKey('first');

  beforeAll(async () => {
    provider = await startIdentityProvider(await key);
  });
  const service = useService(() => ({
    ...store.settings(),
    ...{ AUTH_JWKS_URL: provider.url, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE, AUTH_FAILURES_PER_MINUTE: '0' },
    ...{ DELIVERY_TIMEOUT_MS: '2000', QUEUE_EVENTS_USER: 'queues' },
  }));
  afterAll(() => provider.stop());

  const dump = async () => {
    const { REDIS_URL } = store.settings();
    return [...(await dumpDatabase(service.database)), ...(REDIS_URL ? await dumpRedis(REDIS_URL) : [])];
  };
  /** The marks that are somewhere, with the places. */
  const found = async () => {
    const places = await dump();
    return user.marks.flatMap((mark) => {
      const of = places.filter(({ text }) => text.includes(mark)).map(({ place }) => `${place}: ${mark}`);
      return [...new Set(of)];
    });
  };
  const statusOf = async (token: string) => (await service.api.withToken(token).me()).status;

  beforeAll(async () => {
    bob = await service.apiFor('bob');
    const webhook = await subscribe(bob, receiver.hook(), ['job.started']);
    user = new MarkedUser(service, receiver);
    await user.leaveMarks();
    jwt = await sign(await key, { sub: user.id, scope: 'webhooks:read' });
    await settledDeliveries(bob, webhook, user.forBob);
    await settledDeliveries(bob, webhook, user.forAll);
  });

  it('begins with a user who has left at least 40 marks', async () => {
    expect(user.marks.length).toBeGreaterThanOrEqual(40);
    const places = (await found()).map((place) => place.split(': ') as [string, string]);
    const stored = new Set(places.map(([, mark]) => mark));
    // Secrets and values of headers are encrypted, and a description was replaced.
    const absent = user.marks.filter((mark) => !stored.has(mark) && !/secret|header-value|old-description/.test(mark));
    expect(absent).toEqual([]);
    expect([...new Set(places.map(([place]) => place))]).toEqual(expect.arrayContaining(PLACES));
    if (store.name === 'Redis') expect(places).toContainEqual(['redis', user.id]);
    expect(await Promise.all([jwt, ...user.tokens].map(statusOf))).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it.each(['admin', 'queues'])('refuses %s', async (id) => {
    await errorOf(service.api.eraseUser(id), 'user_not_erasable');
  });

  it('refuses another id in confirm, an invalid id, and a token without the scope', async () => {
    const eraser = await service.apiFor('eraser', ['users:erase']);
    expect(await invalidFieldsOf(eraser.eraseUser(user.id, 'bob'))).toEqual(['confirm: invalid']);
    expect(await invalidFieldsOf(eraser.eraseUser('a%20b'))).toEqual(['path.userId: invalid', 'confirm: invalid']);
    await errorOf(bob.eraseUser(user.id), 'scope_missing');
    expect(await dataOf(eraser.listErasures())).toEqual([]);
  });

  it('requires a scope that no link and no session can have', async () => {
    await errorOf(service.api.createConsoleLink({ scopes: ['users:erase'] }), 'scope_not_allowed');
    const session = await dataOf(service.api.beginSession({}), 201);
    expect(session.scopes).toContain('users:manage');
    expect(session.scopes).not.toContain('users:erase');
  });

  it('refuses tokens, the JWT and events until it is done', async () => {
    erasure = await dataOf(service.api.eraseUser(user.id), 202);
    expect(erasure).toMatchObject({ status: 'running', requestedBy: 'admin', completedAt: null });
    expect(await Promise.all([jwt, ...user.tokens.slice(0, 1)].map(statusOf))).toEqual([401, 401]);
    const event = { event: 'job.started', data: EXAMPLES['job.started'], userId: user.id };
    await errorOf(service.api.publish(event), 'user_erased');
    await errorOf(service.api.publishBatch({ events: [event] }), 'user_erased');
    const token = { name: 'x', scopes: ['webhooks:read'], userId: user.id };
    await errorOf(service.api.createToken(token), 'user_erased');
    await errorOf(service.api.createConsoleLink({ userId: user.id }), 'user_erased');
    expect((await dataOf(service.api.eraseUser(user.id), 202)).id).toBe(erasure.id);
    // A token made later by other means does not work either.
    expect(await statusOf(await service.createToken(user.id, ['webhooks:read']))).toBe(401);
  });

  it('may be requested by the user, whom the erasure then names no more', async () => {
    const eraser = await service.apiFor('eraser', ['users:erase']);
    const { id, requestedBy } = await dataOf(eraser.eraseUser('eraser'), 202);
    expect(requestedBy).toBe('eraser');
    await errorOf(eraser.readErasure(id), 'unauthenticated');
    const isNameless = async () => (await dataOf(service.api.readErasure(id))).requestedBy === null;
    await waitFor(isNameless, { what: 'the first pass' });
  });

  it('completes, and leaves none of the markers in the database or in Redis', async () => {
    const isDone = async () => {
      const now = await dataOf(service.api.readErasure(erasure.id));
      return now.status === 'done' && now;
    };
    done = await waitFor(isDone, { what: 'the end of the erasure' });
    expect(done.completedAt).not.toBeNull();
    const canaries = user.marks.map((mark) => ({ name: mark, text: mark }));
    expect(leaksIn(await dump(), canaries)).toEqual([]);
  });

  it('leaves only the id of the user in the log of the service', () => {
    expect(user.marks.filter((mark) => service.logs().includes(mark))).toEqual([user.id]);
  });

  it('counts what it deleted', () => {
    expect(done.counts).toMatchObject({ webhooks: 2, accounts: 1, followers: 2, links: 1, recoveries: 1, keys: 5 });
    expect(done.counts).toMatchObject({ tokens: 6, eventsForOthers: 2, eventTypes: 1 });
    expect(done.counts.events).toBeGreaterThan(5);
    expect(done.counts.deliveries).toBeGreaterThan(5);
  });

  it('revokes the tokens that were made with the tokens of the user', async () => {
    expect(await Promise.all(user.tokens.map(statusOf))).toEqual([401, 401, 401, 401, 401]);
  });

  it('leaves the events for others with their data, without the publisher', async () => {
    for (const { id } of [user.forBob, user.forAll]) {
      const event = await dataOf(bob.readEvent(id));
      expect(event).toMatchObject({
        ...{ publishedBy: null, traceparent: null, subject: user.kept, data: { jobId: user.kept } },
      });
      expect(event.deliveries.map(({ status }) => status)).toContain('succeeded');
    }
    const rows = await service.database.query(
      'select publisher_id, traceparent from webhook_service.events where id = any($1::uuid[])',
      [[user.forBob.id, user.forAll.id]],
    );
    expect(rows).toEqual([1, 2].map(() => ({ publisher_id: null, traceparent: null })));
  });

  it('frees the id for a new user who sees nothing of the old one', async () => {
    await waitFor(async () => (await statusOf(jwt)) === 200, { what: 'a JWT that works again' });
    const api = await service.apiFor(user.id, ['webhooks:read', 'deliveries:read', 'accounts:manage']);
    expect(await dataOf(api.listWebhooks())).toEqual([]);
    expect(await dataOf(api.listAllDeliveries())).toEqual([]);
    expect(await dataOf(api.listAccounts())).toEqual([]);
    // Published for everybody before.
    expect((await dataOf(api.listEvents())).filter(({ userId }) => userId !== null)).toEqual([]);
  });

  it('is found only by the id of the user', async () => {
    expect((await pageOf(service.api.listErasures({ userId: user.id }))).rows).toEqual([done]);
    expect((await pageOf(service.api.listErasures({ userId: 'bob' }))).rows).toEqual([]);
  });
});
