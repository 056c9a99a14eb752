import { dataOf, errorOf } from '../../support/api';
import {
  AUDIENCE,
  type IdentityProvider,
  ISSUER,
  makeKey,
  sign,
  startIdentityProvider,
} from '../../support/identity-provider';
import { openTransaction } from '../../support/open-transaction';
import { useReceiver } from '../../support/receiver';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { useFleet } from '../stage/fleet';
import { publish, subscribe } from '../stage/steps';

const SCOPES = ['webhooks:read', 'webhooks:write', 'events:publish'];
const TABLES = ['webhooks', 'events', 'deliveries', 'recent_attempts', 'attempt_counts'];

describe('Forgetting a user in several processes', () => {
  let provider: IdentityProvider;
  const key = makeKey('first');
  beforeAll(async () => {
    provider = await startIdentityProvider(await key);
  });
  afterAll(() => provider.stop());
  const receiver = useReceiver();
  const fleet = useFleet({ apis: 2, workers: 1 }, () => ({
    ...{ AUTH_JWKS_URL: provider.url, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE, AUTH_FAILURES_PER_MINUTE: '0' },
  }));

  const apis = () => {
    const [first, second] = fleet().apis.map((member) => fleet().through(member));
    return { first: first!, second: second! };
  };
  const tokenOf = async (userId: string, scopes = SCOPES) =>
    (await dataOf(apis().second.createToken({ name: 'test', scopes, userId }), 201)).token;
  const done = ({ id }: { id: string }) =>
    waitFor(async () => (await dataOf(apis().first.readErasure(id))).status === 'done', { what: 'the erasure' });

  it('refuses requests and events in a process that was running before, until it is done', async () => {
    const { first, second } = apis();
    const token = await tokenOf('dave');
    const jwt = await sign(await key, { sub: 'dave', scope: 'webhooks:read' });
    const session = (await dataOf(second.withToken(token).beginSession({}), 201)).token;
    const link = await dataOf(second.createConsoleLink({ userId: 'dave' }), 201);
    const statusOf = async (credential: string) => (await second.withToken(credential).me()).status;
    expect(await Promise.all([token, session, jwt].map(statusOf))).toEqual([200, 200, 200]);

    const erasure = await dataOf(first.eraseUser('dave'), 202);
    expect(await Promise.all([token, session].map(statusOf))).toEqual([401, 401]);
    await errorOf(second.withToken(null).beginSession({ code: link.url.split('#code=')[1] }), 'link_invalid');
    await waitFor(async () => (await statusOf(jwt)) === 401, { what: 'the other process to refuse the JWT' });
    await errorOf(
      second.publish({ event: 'job.started', data: EXAMPLES['job.started'], userId: 'dave' }),
      'user_erased',
    );
    await errorOf(second.createToken({ name: 'test', scopes: SCOPES, userId: 'dave' }), 'user_erased');
    await errorOf(second.createConsoleLink({ userId: 'dave' }), 'user_erased');

    await done(erasure);
    await waitFor(async () => (await statusOf(jwt)) === 200, { what: 'the other process to accept the JWT' });
  });

  it('lets a webhook be disabled while it is deleted', async () => {
    const { first, second } = apis();
    const eve = second.withToken(await tokenOf('eve', [...SCOPES, 'accounts:manage']));
    const account = await dataOf(eve.createAccount({ provider: 'push', handle: 'eve' }), 201);
    let respond = (): void => undefined;
    const after = new Promise<void>((resolve) => (respond = resolve));
    const hook = receiver.hook({ status: 410, after });
    const webhook = await subscribe(eve, hook, ['job.started']);
    await publish(eve, 'job.started');
    await hook.received(1);
    const lock = await openTransaction(fleet().database, [
      'select id from webhook_service.accounts where id = $1 for update',
      [account.id],
    ]);
    await dataOf(first.eraseUser('eve'), 202);
    // The first pass waits before it deletes the webhook.
    await lock.waitedFor(1);
    respond();
    const isDisabled = async () =>
      (
        await fleet().database.query('select id from webhook_service.webhooks where id = $1 and not active', [
          webhook.id,
        ])
      ).length === 1;
    await waitFor(isDisabled, { what: 'the webhook to be disabled' });
    await lock.end('rollback');
  });

  it('deletes what an attempt wrote that was in flight when it began', async () => {
    const { first, second } = apis();
    const ivy = second.withToken(await tokenOf('ivy'));
    let respond = (): void => undefined;
    const after = new Promise<void>((resolve) => (respond = resolve));
    const hook = receiver.hook({ status: 500, body: 'of ivy', after });
    await subscribe(ivy, hook, ['job.started']);
    await publish(ivy, 'job.started');
    await hook.received(1);
    const rowsOf = async (table: string) =>
      fleet().database.query<{ status?: string }>(`select * from webhook_service.${table} where user_id = 'ivy'`);

    const erasure = await dataOf(first.eraseUser('ivy'), 202);
    await waitFor(async () => (await rowsOf('webhooks')).length === 0, { what: 'the first pass' });
    respond();
    const isWritten = async () => (await rowsOf('deliveries')).some(({ status }) => status === 'failed');
    await waitFor(isWritten, { what: 'the outcome of the attempt' });
    await done(erasure);
    expect((await Promise.all(TABLES.map(rowsOf))).map(({ length }) => length)).toEqual(TABLES.map(() => 0));
  });
});
