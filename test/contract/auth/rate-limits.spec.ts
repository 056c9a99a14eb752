import { type Api, dataOf, errorOf, exchange, readEnvelope, type Reply } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { EXAMPLES } from '../../e2e/stage/examples';
import { subscribe } from '../../e2e/stage/steps';

const EVENT = { event: 'job.started', data: EXAMPLES['job.started'] };

/** The statuses of `count` answers, one after the other. */
async function statuses(count: number, call: () => Promise<{ status: number }>): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) all.push((await call()).status);
  return all;
}

/** How often a limit of a minute may have been used up since then: once, unless the machine is very busy. */
const minutesSince = (startedAt: number): number => 1 + Math.floor((performance.now() - startedAt) / 60_000);

/** A refusal for a limit says in which second to come again. */
async function expectRefusal(pending: Promise<Reply<unknown>>, message: RegExp): Promise<void> {
  const reply = await pending;
  expect(reply).toMatchObject({ status: 429, code: 'rate_limited', error: expect.stringMatching(message) });
  expect(reply).toMatchObject({ error: expect.stringContaining(`in ${reply.headers['retry-after']} second`) });
  expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(60);
}

describe('A user', () => {
  const service = useService({ RATE_LIMIT_PER_MINUTE: '5', PUBLISH_LIMIT_PER_MINUTE: '3' });

  it('has one limit per minute for all routes and tokens except publishing, and other users are not affected', async () => {
    const [alice, aliceToo, bob] = [
      await service.apiFor('alice'),
      await service.apiFor('alice', ['webhooks:read']),
      await service.apiFor('bob'),
    ];
    expect(await statuses(3, () => alice.me())).toEqual([200, 200, 200]);
    expect(await statuses(1, () => aliceToo.createWebhook({}))).toEqual([403]);
    expect(await statuses(1, () => alice.call('HEAD', '/api/me').catch(() => ({ status: 0 })))).toHaveLength(1);
    await expectRefusal(alice.listWebhooks(), /requests/);
    await expectRefusal(aliceToo.eventTypes(), /requests/);
    expect((await bob.me()).status).toBe(200);
    expect(await statuses(3, () => alice.publish(EVENT))).toEqual([202, 202, 202]);
    await expectRefusal(alice.publish(EVENT), /events/);
    expect((await bob.publish(EVENT)).status).toBe(202);
  });
});

describe('A batch', () => {
  const service = useService({ PUBLISH_LIMIT_PER_MINUTE: '3' });
  const batch = (api: Api, size: number) => api.publishBatch({ events: new Array(size).fill(EVENT) });

  it('counts as many as its events, and passes alone when that is more than the limit', async () => {
    const [alice, bob, carol] = [
      await service.apiFor('alice'),
      await service.apiFor('bob'),
      await service.apiFor('carol'),
    ];
    expect((await batch(alice, 4)).status).toBe(202);
    await expectRefusal(alice.publish(EVENT), /events/);
    expect((await bob.publish(EVENT)).status).toBe(202);
    expect((await batch(bob, 2)).status).toBe(202);
    await expectRefusal(batch(bob, 1), /events/);
    expect((await carol.publish(EVENT)).status).toBe(202);
    await expectRefusal(batch(carol, 4), /events/);
  });
});

describe('Followers that are pushed', () => {
  const service = useService({ PUBLISH_LIMIT_PER_MINUTE: '3' });

  it('count as events that their user publishes', async () => {
    const api = await service.apiFor('alice', ['accounts:manage', 'events:publish']);
    const { id } = await dataOf(api.createAccount({ provider: 'push', handle: 'my shop' }), 201);
    const push = (...ids: string[]) =>
      api.putFollowers(id, { followers: ids.map((each) => ({ id: each, username: each })) });
    expect(await dataOf(push('a', 'b'))).toMatchObject({ gained: 0 });
    expect(await dataOf(push('a', 'b', 'c', 'd'))).toMatchObject({ gained: 2 });
    await expectRefusal(push('a', 'b'), /events/);
    expect(await dataOf(push('a', 'b', 'c'))).toMatchObject({ lost: 1 });
    await expectRefusal(api.publish(EVENT), /events/);
  });
});

describe('Tests of webhooks', () => {
  const service = useService({ RATE_LIMIT_PER_MINUTE: '600' });
  const receiver = useReceiver();

  it('are 30 a minute for a user', async () => {
    const [alice, bob] = [await service.apiFor('alice'), await service.apiFor('bob')];
    const [one, other] = [
      await subscribe(alice, receiver.hook(), ['job.started']),
      await subscribe(alice, receiver.hook(), ['job.started']),
    ];
    const startedAt = performance.now();
    expect(await statuses(29, () => alice.testWebhook(one.id))).toEqual(new Array(29).fill(200));
    expect(await statuses(1, () => alice.testWebhook(other.id))).toEqual([200]);
    let [made, reply] = [30, alice.testWebhook(other.id)];
    for (; (await reply).success; reply = alice.testWebhook(other.id)) made += 1;
    await expectRefusal(reply, /at most 30 a minute/);
    expect(made).toBeLessThanOrEqual(30 * minutesSince(startedAt));
    expect((await alice.me()).status).toBe(200);
    await dataOf(bob.testWebhook((await subscribe(bob, receiver.hook(), ['job.started'])).id));
  });
});

describe('With RATE_LIMIT_PER_MINUTE=0', () => {
  const service = useService({ RATE_LIMIT_PER_MINUTE: '0' });
  const receiver = useReceiver();

  it('there is no limit, not for tests either', async () => {
    const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
    expect(await statuses(31, () => service.api.testWebhook(id))).toEqual(new Array(31).fill(200));
    expect(await statuses(31, () => service.api.publish(EVENT))).toEqual(new Array(31).fill(202));
  });
});

describe('Failed authentications', () => {
  const service = useService({ AUTH_FAILURES_PER_MINUTE: '5', TRUSTED_PROXIES: '127.0.0.0/8,10.0.0.0/8' });

  const from = (forwarded: string, api: Api = service.api.withToken('wrong')) =>
    api.call('GET', '/api/me', { headers: { 'x-forwarded-for': forwarded } });

  it('return 401 up to the limit of an address, then 429 to that address, and never block a valid token', async () => {
    expect(await statuses(5, () => from('192.0.2.1'))).toEqual([401, 401, 401, 401, 401]);
    await expectRefusal(from('192.0.2.1'), /failed authentications/);
    await expectRefusal(from('192.0.2.1', service.api.withToken(null)), /failed authentications/);
    expect((await from('192.0.2.1', service.api)).status).toBe(200);
    expect((await from('192.0.2.2')).status).toBe(401);
  });

  it('count for the /64 of an IPv6 address, and for the IPv4 address inside a mapped one', async () => {
    await statuses(5, () => from('2001:db8:1:2::1'));
    expect(await statuses(1, () => from('2001:db8:1:2:ffff::9'))).toEqual([429]);
    expect(await statuses(1, () => from('2001:db8:1:3::1'))).toEqual([401]);
    await statuses(5, () => from('::ffff:192.0.2.64'));
    expect(await statuses(1, () => from('192.0.2.64'))).toEqual([429]);
  });

  it('count for the last address outside the trusted proxies, whatever addresses precede it', async () => {
    await statuses(5, () => from('192.0.2.10'));
    for (const forged of ['198.51.100.1, 192.0.2.10', '192.0.2.11, 192.0.2.10, 10.1.2.3']) {
      expect(await statuses(1, () => from(forged))).toEqual([429]);
    }
    const garbage = await statuses(8, () => from(`${'x'.repeat(1000)}${Math.random()}`));
    expect(garbage).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
  });

  it('of a thousand and more do not keep a valid token out', async () => {
    const startedAt = performance.now();
    const flood = Promise.all(Array.from({ length: 20 }, () => statuses(50, () => from('192.0.2.99'))));
    const valid = await statuses(20, () => from('192.0.2.99', service.api));
    expect(valid).toEqual(new Array(20).fill(200));
    const answers = (await flood).flat();
    const refused = answers.filter((status) => status === 401);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    expect(refused.length).toBeLessThanOrEqual(5 * minutesSince(startedAt));
    expect(answers.filter((status) => status === 429)).toHaveLength(1000 - refused.length);
  });
});

describe('x-forwarded-for of an address outside TRUSTED_PROXIES', () => {
  const service = useService({ AUTH_FAILURES_PER_MINUTE: '5', TRUSTED_PROXIES: '192.0.2.0/24' });

  it('is not believed', async () => {
    let last = 0;
    const call = () => {
      const headers = { 'x-forwarded-for': `192.0.2.${++last}`, authorization: 'Bearer wrong' };
      return exchange(service.url, 'GET', '/api/me', { headers });
    };
    expect(await statuses(6, call)).toEqual([401, 401, 401, 401, 401, 429]);
    expect(readEnvelope('a refusal', await call()).success).toBe(false);
    await errorOf(service.api.withToken('wrong').me(), 429);
  });
});
