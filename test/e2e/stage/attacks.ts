import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { type Api, dataOf, type Reply } from '../../support/api';
import type { FollowerServer } from '../../support/follower-server';
import type { Receiver } from '../../support/receiver';
import type { Service } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from './examples';

/** Where one user attacks. */
export interface Scene {
  readonly service: Service;
  readonly receiver: Pick<Receiver, 'hook'>;
  readonly followers: FollowerServer;
  /** The whole size that the limits allow, or one that a short test can afford. */
  readonly isLong: boolean;
  /** The attack ran before, in the same minute. */
  readonly isRepeat: boolean;
  readonly token: string;
  /** Waits until the others have looked so many times more. */
  looks(count: number): Promise<unknown>;
  /** A JWT of a user whom nobody has seen before. */
  stranger(): Promise<string>;
}

/** The worst that one user can do within the limits: once, or again and again. */
export interface Attack {
  readonly title: string;
  readonly scopes?: readonly string[];
  run(attacker: Api, scene: Scene): Promise<unknown>;
}

const SINCE = '2026-01-01T00:00:00Z';
const A_UUID = '01a203c6-9f76-7389-92d7-0f609e1e7a4b';
const PUSH = { provider: 'push', handle: 'my shop' };
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const followersFrom = (first: number, count: number) =>
  JSON.stringify({ followers: times(count, (i) => ({ id: `${first + i}`, username: `user ${first + i}` })) });
const LONG_LISTS = [followersFrom(1, 100_000), followersFrom(100_000, 100_000)];
const SHORT_LISTS = [followersFrom(1, 5000), followersFrom(5000, 5000)];

/** Every promise settled, and every answer among these. */
async function expectStatuses(replies: readonly Promise<{ status: number }>[], ...statuses: number[]): Promise<void> {
  const others = (await Promise.all(replies)).filter(({ status }) => !statuses.includes(status));
  if (others.length > 0) throw new Error(`Answers that were not expected: ${JSON.stringify(others[0])}`);
}

/** Keeps all statuses apart from those of a server that fails. */
const expectNoFailure = (replies: readonly Promise<{ status: number }>[]): Promise<void> =>
  expectStatuses(replies, 200, 201, 202, 400, 401, 403, 404, 409, 429);

/** Bodies are made before anybody looks: this process is the one that looks. */
function largeBodies(kind: string, body: string): Attack[] {
  const path = `/api/accounts/${A_UUID}/followers`;
  const send = (attacker: Api) => attacker.call('PUT', path, { rawBody: body });
  const without = { title: `sending the largest bodies ${kind}, without the scope`, scopes: ['webhooks:read'] };
  const having = { title: `sending the largest bodies ${kind}`, scopes: ['accounts:manage'] };
  return [
    {
      ...without,
      run: (attacker, { isRepeat }) => expectStatuses([send(attacker)], ...(isRepeat ? [403, 429] : [403])),
    },
    {
      ...having,
      run: (attacker) =>
        expectStatuses(
          times(3, () => send(attacker)),
          400,
          429,
        ),
    },
  ];
}

/** On a busy machine, some of many requests of a user at once wait for longer than they may, and have to be made again. */
const madeLater = <T>(create: () => Promise<Reply<T>>): Promise<Reply<T>> =>
  waitFor(
    async () => {
      const reply = await create();
      return reply.success && reply;
    },
    { what: 'a webhook of the attacker' },
  );

/** A repeat of the long form may find that its user has no requests left in this minute; the first run may not. */
async function silentWebhooks({ receiver, isRepeat }: Scene, attacker: Api, count: number): Promise<string[]> {
  const hook = receiver.hook({ after: new Promise(() => undefined) });
  const create = () => attacker.createWebhook({ url: hook.url, events: ['*'] });
  const made = await Promise.all(times(count, create));
  const refused = made.filter(({ success }) => !success);
  for (let left = isRepeat ? 0 : refused.length; left > 0; left--) made.push(await madeLater(create));
  const ids = made.flatMap((reply) => (reply.success ? [reply.data.id] : []));
  if (!isRepeat && ids.length < count) throw new Error(`Only ${ids.length} of ${count} webhooks could be made`);
  return ids;
}

async function account(attacker: Api): Promise<string> {
  const { data } = (await attacker.listAccounts()) as { data: { id: string }[] };
  return data[0]?.id ?? (await dataOf(attacker.createAccount(PUSH), 201)).id;
}

/** Ten thousand events and their deliveries to one webhook. */
const INSERT_DELIVERIES = `
  with event as (
    insert into webhook_service.events (id, name, user_id, subject, body, fanned_out_at)
    select overlay($1::uuid::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, 'job.started', 'x', 'one', '{}', now()
    from generate_series(1, 10000) as n returning id
  )
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, subject, url, attempt, trigger, status, scheduled_at, leased_until)
  select id, $1, $2, id, 'job.started', 'one', 'http://127.0.0.1:9/', 1, 'event', $3, now(), now() + interval '1 hour'
  from event`;

export const ATTACKS: readonly Attack[] = [
  ...largeBodies('of objects', `{"followers":[${'{},'.repeat(5_500_000)}{}]}`),
  ...largeBodies('of brackets', `{"followers":${'['.repeat(8_000_000)}${']'.repeat(8_000_000)}}`),
  ...largeBodies('of a million keys', `{"followers":[{${times(1_000_000, (i) => `"k${i}":1`).join()}}]}`),
  {
    title: 'uploading the largest bodies slowly, on 200 connections',
    async run(_, { service, token, looks, isLong }) {
      const head = [
        'POST /api/events/batch HTTP/1.1',
        'host: localhost',
        `authorization: Bearer ${token}`,
        'content-type: application/json',
        'content-length: 9000000',
      ].join('\r\n');
      const { port } = new URL(service.url);
      const sockets = times(200, () => connect(Number(port), '127.0.0.1').on('error', () => undefined));
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      for (const socket of sockets) socket.write(`${head}\r\n\r\n{"events":[`);
      for (let i = 0; i < (isLong ? 50 : 10); i++) {
        for (const socket of sockets) socket.write(' '.repeat(10_000));
        await looks(1);
      }
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    title: 'pushing a long list of followers, another one, and many short ones after them',
    scopes: ['accounts:manage'],
    async run(attacker, { isLong }) {
      const id = await account(attacker);
      const lists = [...(isLong ? LONG_LISTS : SHORT_LISTS), ...times(14, (i) => followersFrom(i, 1))];
      await expectStatuses(
        lists.map((rawBody) => attacker.call('PUT', `/api/accounts/${id}/followers`, { rawBody })),
        200,
        429,
      );
    },
  },
  {
    title: 'switching a webhook on and off while its pending deliveries are canceled',
    async run(attacker, scene) {
      const [id] = await silentWebhooks(scene, attacker, 1);
      if (!id) return;
      await scene.service.database.query(INSERT_DELIVERIES, [id, 'x', 'pending']);
      const answers = await Promise.all(times(40, (i) => attacker.updateWebhook(id, { active: i % 2 === 1 })));
      const unexpected = answers.filter((answer, i) => {
        const isStopping = i % 2 === 1 && !answer.success && answer.code === 'webhook_stopping';
        return ![200, 429].includes(answer.status) && !isStopping;
      });
      if (unexpected.length > 0) throw new Error(`Answers that were not expected: ${JSON.stringify(unexpected[0])}`);
      await attacker.deleteWebhook(id);
    },
  },
  {
    title: 'owning a webhook whose row is locked for a long time',
    async run(attacker, { service, receiver, looks, isRepeat }) {
      const hook = receiver.hook({ status: 410 });
      const made = await attacker.createWebhook({ url: hook.url, events: ['*'] });
      if (!made.success && isRepeat) return;
      const { id } = await dataOf(Promise.resolve(made), 201);
      await service.database.query('begin');
      try {
        await service.database.query('select from webhook_service.webhooks where id = $1 for update', [id]);
        await attacker.publishBatch({
          events: times(50, () => ({ event: 'job.started', data: EXAMPLES['job.started'] })),
        });
        const changes = times(30, () => attacker.updateWebhook(id, { description: 'x' }));
        await looks(10);
        await service.database.query('commit');
        // Those that have waited for a second are told that it is busy.
        const refused = (await Promise.all(changes)).filter((answer) => !answer.success && answer.code !== 'busy');
        await expectStatuses(
          refused.map((answer) => Promise.resolve(answer)),
          429,
        );
      } finally {
        await service.database.query('rollback');
      }
      await attacker.deleteWebhook(id);
    },
  },
  {
    title: 'testing a silent receiver 30 times',
    async run(attacker, scene) {
      const ids = await silentWebhooks(scene, attacker, 30);
      await expectNoFailure(ids.map((id) => attacker.testWebhook(id)));
      await Promise.all(ids.map((id) => attacker.deleteWebhook(id)));
    },
  },
  {
    title: 'starting a hundred recoveries',
    async run(attacker, scene) {
      const ids = await silentWebhooks(scene, attacker, 10);
      await expectNoFailure(times(100, (i) => attacker.recover(ids[i % 10] ?? A_UUID, { since: SINCE })));
      await Promise.all(ids.map((id) => attacker.deleteWebhook(id)));
    },
  },
  {
    title: 'reading with the widest filters',
    async run(attacker, scene) {
      const [id] = await silentWebhooks(scene, attacker, 1);
      if (!id) return;
      const { userId } = await dataOf(attacker.me());
      await scene.service.database.query(INSERT_DELIVERIES, [id, userId, 'failed']);
      const WIDE = [
        ...[{ givenUp: 'true' }, { error: 'timeout' }, { responseStatus: '2xx' }, { event: 'job.completed' }],
        { subject: 'one', error: 'timeout' },
      ];
      // In waves, because this process is the one that looks. The service has as many in hand as with all at once.
      for (let wave = 0; wave < 10; wave++) {
        await expectNoFailure([
          ...times(20, (i) => attacker.listAllDeliveries({ ...WIDE[i % WIDE.length], limit: '250', since: SINCE })),
          ...times(5, () => attacker.listEvents({ limit: '250', since: SINCE })),
          ...times(5, () => attacker.listEvents({ limit: '250', since: SINCE, subject: 'one', event: 'x' })),
        ]);
      }
    },
  },
  {
    title:
      'waiting for changes with all five requests, reading ten thousand of them, and requesting the longest statistics',
    async run(attacker, scene) {
      const me = await attacker.me();
      const [id] = await silentWebhooks(scene, attacker, 1);
      const begun = await attacker.listAllDeliveries({ changedAfter: 'now' });
      if (!me.success || !id || !begun.success) {
        if (!scene.isRepeat) throw new Error('The attack was refused before it began.');
        return scene.looks(10);
      }
      const cursor = begun.nextCursor ?? '';
      await scene.service.database.query(INSERT_DELIVERIES, [id, me.data.userId, 'failed']);
      const wait = { changedAfter: 'now', waitSeconds: '2' };
      const none = { changedAfter: cursor, limit: '1000', event: 'job.failed', waitSeconds: '1' };
      await expectNoFailure([
        ...times(20, () => attacker.listAllDeliveries(wait)),
        ...times(20, () => attacker.listAllDeliveries({ changedAfter: cursor, limit: '1000' })),
        ...times(5, () => attacker.listAllDeliveries(none)),
        ...times(30, () => attacker.stats({ step: '1d', since: SINCE })),
        ...times(30, () => attacker.listWebhooks({ include: 'stats', limit: '250' })),
      ]);
    },
  },
  {
    title: 'creating links and sessions as fast as possible, and guessing codes',
    scopes: ['tokens:manage', 'webhooks:read'],
    async run(attacker) {
      const links = await Promise.all(times(100, () => attacker.createConsoleLink({ scopes: ['webhooks:read'] })));
      const codes = links.flatMap((reply) => (reply.success ? [reply.data.url.split('#code=')[1]] : []));
      const signedOut = attacker.withToken(null);
      await expectNoFailure([
        ...codes.map((code) => signedOut.beginSession({ code })),
        ...times(100, (i) => signedOut.beginSession({ code: String(i).padStart(43, 'x') })),
      ]);
    },
  },
  {
    title: 'having accounts on a server that takes nine seconds for a page and always has a next one',
    scopes: ['accounts:manage'],
    async run(attacker, { followers, looks, isLong }) {
      followers.interrupt(async ({ pathname }, nth) => {
        if (!pathname.endsWith('/followers')) return undefined;
        await looks(isLong ? 90 : 10);
        const link = `<${followers.origin}${pathname}?max_id=${nth}>; rel="next"`;
        return { status: 200, headers: { link }, body: [{ id: `${nth}`, username: 'x', acct: 'x', display_name: '' }] };
      });
      const handle = `ada@${followers.host}`;
      await expectNoFailure(times(20, () => attacker.createAccount({ provider: 'mastodon', handle })));
      await looks(20);
    },
  },
  {
    title: 'sending thousands of expired tokens',
    async run(attacker, { service, isLong }) {
      const count = isLong ? 5000 : 1000;
      await service.database.query(
        `insert into webhook_service.access_tokens (id, user_id, name, token_hash, scopes, expires_at)
         select gen_random_uuid(), 'x', 'x', sha256(('wns_' || lpad(n::text, 43, '0'))::bytea), '{webhooks:read}',
           now() - interval '1 day'
         from generate_series(1, $1::int) as n on conflict do nothing`,
        [count],
      );
      const expired = (i: number) => attacker.withToken(`wns_${String(i + 1).padStart(43, '0')}`);
      for (let i = 0; i < count; i += 250) {
        await expectStatuses(
          times(250, (j) => expired(i + j).listWebhooks()),
          401,
          429,
        );
      }
    },
  },
  {
    title: 'sending requests on a thousand connections that are kept alive',
    async run(_, { service, token, looks, isLong }) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1000 });
      const { port } = new URL(service.url);
      const ask = () =>
        new Promise<void>((resolve, reject) => {
          const options = { port, agent, path: '/api/webhooks', headers: { authorization: `Bearer ${token}` } };
          request(options, (answer) => answer.resume().on('end', resolve))
            .on('error', reject)
            .end();
        });
      for (let round = 0; round < (isLong ? 5 : 2); round++) {
        const asked: Promise<void>[] = [];
        for (let i = 0; i < 10; i++) {
          asked.push(...times(100, ask));
          await looks(1);
        }
        await Promise.all(asked);
      }
      agent.destroy();
    },
  },
  {
    title: 'sending each request as another user',
    async run(attacker, { stranger, isLong }) {
      for (let i = 0; i < (isLong ? 600 : 200); i += 50) {
        const strangers = await Promise.all(times(50, stranger));
        await expectStatuses(
          strangers.map((token) => attacker.withToken(token).listWebhooks()),
          200,
        );
      }
    },
  },
  {
    title: 'publishing as much as the limit allows, to silent receivers',
    async run(attacker, scene) {
      await silentWebhooks(scene, attacker, 10);
      const events = times(100, () => ({ event: 'job.started', data: EXAMPLES['job.started'] }));
      await expectStatuses(
        times(scene.isLong ? 60 : 5, () => attacker.publishBatch({ events })),
        202,
        429,
      );
    },
  },
  {
    title: 'publishing the largest events to webhooks with the longest filters and headers and the lowest rates',
    async run(attacker, { receiver, isLong, isRepeat }) {
      const hook = receiver.hook();
      const filter = Object.fromEntries(times(20, (i) => [`data.list.${'x'.repeat(100)}${i}`, { ne: i }]));
      const headers = Object.fromEntries(times(4, (i) => [`x-${i}`, 'v'.repeat(1000)]));
      const fields = times(50, (i) => `list.text.${'x'.repeat(200)}${i}`);
      const common = { url: hook.url, events: ['*'], filter, headers, maxPerSecond: 0.1 };
      const wanted = { ...common, format: 'payload', fields };
      const made = await Promise.all(
        times(isLong ? 100 : 30, (i) => attacker.createWebhook(i % 2 === 0 ? wanted : { ...common, format: 'slack' })),
      );
      const refused = made.filter(({ success }) => !success);
      for (let left = isRepeat ? 0 : refused.length; left > 0; left--)
        made.push(await madeLater(() => attacker.createWebhook(wanted)));
      const data = { ...EXAMPLES['job.started'], list: times(100, (i) => ({ i, text: 'x'.repeat(800) })) };
      const event = { event: 'job.started', data };
      await expectStatuses(
        times(isLong ? 60 : 4, () => attacker.publishBatch({ events: times(20, () => event) })),
        202,
        429,
      );
      await expectNoFailure(
        times(100, () => attacker.call('POST', '/api/filter-checks', { body: { filter, ...event } })),
      );
      for (const more of [{ format: 'teams' }, { format: 'payload', fields }])
        await expectNoFailure(
          times(50, () => attacker.call('POST', '/api/format-previews', { body: { ...more, ...event } })),
        );
      await expectNoFailure(made.flatMap((reply) => (reply.success ? [attacker.deleteWebhook(reply.data.id)] : [])));
    },
  },
  {
    title: 'creating and deleting tokens, webhooks and secrets as fast as possible',
    scopes: ['webhooks:read', 'webhooks:write', 'tokens:manage'],
    async run(attacker, scene) {
      const ids = await silentWebhooks(scene, attacker, 10);
      await expectNoFailure([
        ...times(100, (i) => attacker.createToken({ name: `${i}`, scopes: ['webhooks:read'] })),
        ...times(50, (i) => attacker.rotateSecret(ids[i % 10] ?? A_UUID)),
        ...ids.map((id) => attacker.deleteWebhook(id)),
      ]);
    },
  },
];
