import { randomBytes } from 'node:crypto';
import { Svix, Webhook as SvixWebhook } from 'svix';
import { type Api, allPagesOf, dataOf } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { type CommandRun, type RunningCommand, startCommand } from '../stage/library-command';
import { EXAMPLES } from '../stage/examples';
import { publish } from '../stage/steps';
import { type FakeEndpoint, SVIX_TOKEN, useSvixServer } from '../stage/svix-server';

const SCOPES = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`;

describe('webhook-notification import svix', () => {
  const service = useService({
    SIGNATURE_HEADERS: 'svix',
    EXTRA_EVENT_TYPES: 'invoice.paid,invoice.failed',
    MAX_WEBHOOKS_PER_USER: '500',
  });
  const receiver = useReceiver();
  const svix = useSvixServer();
  let token: string;
  let api: Api;
  let users = 0;
  // Each test imports for a user of its own.
  beforeEach(async () => {
    token = await service.createToken(`user-${(users += 1)}`, SCOPES);
    api = service.api.withToken(token);
  });

  function endpoint(id: string, more: Partial<FakeEndpoint> = {}): FakeEndpoint {
    const made = {
      id,
      url: `https://${id.replaceAll('_', '-')}.example/hooks/secret-path`,
      secret: newSecret(),
      ...more,
    };
    svix.endpoints.set(id, made);
    return made;
  }

  function start(
    args: readonly string[] = [],
    variables: Record<string, string> = {},
    server = svix.url,
  ): RunningCommand {
    const line = ['import', 'svix', '--app', 'shop', '--svix', server, '--service', service.url, ...args];
    return startCommand(line, { SVIX_TOKEN, WEBHOOKS_TOKEN: token, ...variables });
  }

  /** Runs the command. In no case it prints a secret, or what a terminal would obey. */
  async function run(...line: Parameters<typeof start>): Promise<CommandRun> {
    const finished = await start(...line).ended();
    const printed = finished.stdout + finished.stderr;
    const secrets = [...svix.endpoints.values()].flatMap(({ secret, headers = {} }) => [
      secret,
      ...Object.values(headers),
    ]);
    for (const each of [SVIX_TOKEN, token, 'secret-path', ...secrets]) expect(printed).not.toContain(each);
    expect(printed).not.toMatch(UNPRINTABLE);
    return finished;
  }

  const webhooks = async () => (await allPagesOf(api.listWebhooks, { limit: 250 })).flat();
  const imported = (id: string) => dataOf(api.readExternalWebhook(`svix:app_1:${id}`));

  it('reads what the client of Svix reads as well', async () => {
    const made = endpoint('ep_1', {
      uid: 'a',
      filterTypes: ['invoice.paid'],
      rateLimit: 5,
      headers: { 'x-a': 'value' },
    });
    const client = new Svix(SVIX_TOKEN, { serverUrl: svix.url });
    expect(await client.application.get('shop')).toMatchObject({ id: 'app_1', uid: 'shop' });
    const { data, done } = await client.endpoint.list('app_1', { limit: 250 });
    expect({ data, done }).toMatchObject({
      ...{ done: true, data: [{ id: 'ep_1', uid: 'a', url: made.url, filterTypes: ['invoice.paid'], rateLimit: 5 }] },
    });
    expect(await client.endpoint.getSecret('app_1', 'ep_1')).toEqual({ key: made.secret });
    expect(await client.endpoint.getHeaders('app_1', 'ep_1')).toEqual({ headers: { 'x-a': 'value' }, sensitive: [] });
  });

  it('says what it would do, and does nothing, until --yes', async () => {
    endpoint('ep_1');
    const { code, stdout } = await run();
    expect([code, stdout]).toEqual([
      0,
      `would create  svix:app_1:ep_1  https://ep-1.example
would create 1.
Nothing has changed. Repeat the command with --yes to do it.
`,
    ]);
    expect(await webhooks()).toEqual([]);

    await run(['--yes']);
    expect(await run(['--activate'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^would activate {2}svix:app_1:ep_1 .*\nwould activate 1\.\nNothing has changed/),
    });
    expect(await imported('ep_1')).toMatchObject({ active: false });
  });

  it.each([false, true])(
    'imports inactive webhooks with everything that maps (new names of fields: %s)',
    async (newNames) => {
      svix.newNames = newNames;
      endpoint('ep_1', {
        ...{ uid: '_Uid-1', description: 'Staging', filterTypes: ['invoice.paid', 'invoice.failed'], rateLimit: 7 },
        ...{ metadata: { team: 'billing' }, headers: { 'X-Api-Key': 'k-4f2a91' } },
      });
      endpoint('ep_2', { url: 'https://ep-1.example/hooks/secret-path' });
      expect(await run(['--yes'])).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringContaining('created 2.'),
      });
      expect(await imported('ep_1')).toMatchObject({
        ...{ url: 'https://ep-1.example/hooks/secret-path', events: ['invoice.failed', 'invoice.paid'], active: false },
        ...{ description: 'Staging', metadata: { 'svix-uid': '_Uid-1', team: 'billing' }, maxPerSecond: 7 },
        headers: { 'X-Api-Key': '•••' },
      });
      expect(await imported('ep_2')).toMatchObject({
        events: ['*'],
        active: false,
        description: null,
        disabledReason: null,
      });
    },
  );

  it('lets receivers verify as before with the library of Svix, once they are activated', async () => {
    const hook = receiver.hook();
    const { secret } = endpoint('ep_1', { url: hook.url, filterTypes: ['follower.gained'] });
    const asRaw = endpoint('ep_2', { url: hook.url, secret: randomBytes(32).toString('base64') });
    expect(await run(['--yes'])).toMatchObject({ code: 0 });
    await publish(api, 'follower.gained');
    expect(await run(['--activate', '--yes'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('activated 2.'),
    });
    const { id } = await publish(api, 'follower.gained');
    const calls = await hook.received(2);
    // What was published while they were inactive does not come.
    expect(calls.map(({ headers }) => headers['svix-id'])).toEqual([id, id]);
    for (const key of [secret, asRaw.secret]) {
      const verified = calls.filter(({ headers, body }) => {
        const named = ['svix-id', 'svix-timestamp', 'svix-signature'].map((name) => [name, String(headers[name])]);
        try {
          const payload = new SvixWebhook(key).verify(
            body.toString(),
            Object.fromEntries(named) as Record<string, string>,
          );
          expect(payload).toEqual(EXAMPLES['follower.gained']);
          return true;
        } catch {
          return false;
        }
      });
      expect(verified).toHaveLength(1);
    }
  });

  it('changes nothing when it is repeated, inactive or active', async () => {
    for (let i = 0; i < 20; i += 1)
      endpoint(`ep_${i}`, {
        filterTypes: ['invoice.paid', 'job.started'],
        metadata: { b: '1', a: '2' },
        headers: { 'x-a': 'value' },
      });
    for (const args of [['--yes'], ['--activate', '--yes']]) {
      await run(args);
      const before = await webhooks();
      // Svix keeps a set, which may come in another order.
      for (const each of svix.endpoints.values()) each.filterTypes?.reverse();
      const { code, stdout } = await run(args);
      expect([code, stdout]).toEqual([0, args.includes('--activate') ? 'kept 20.\n' : 'unchanged 20.\n']);
      expect(await webhooks()).toEqual(before);
    }
  });

  it('follows Svix until a webhook is active, and never after', async () => {
    const made = endpoint('ep_1', { filterTypes: ['invoice.paid'] });
    await run(['--yes']);
    await dataOf(api.updateWebhook((await imported('ep_1')).id, { filter: { 'data.cents': { gte: 1 } } }));
    Object.assign(made, { filterTypes: ['invoice.failed'], secret: newSecret() });
    const { stdout } = await run(['--yes']);
    expect(stdout).toContain('updated  svix:app_1:ep_1  https://ep-1.example  (events)\n');
    const webhook = await imported('ep_1');
    expect(webhook).toMatchObject({ events: ['invoice.failed'], filter: { 'data.cents': { gte: 1 } } });
    // It has the rotated secret, so declaring that changes nothing.
    const { url, events, description, metadata, filter } = webhook;
    const declared = { url, events, description, metadata, filter, secret: made.secret };
    expect(await dataOf(api.saveWebhook('svix:app_1:ep_1', declared))).toMatchObject({ updatedAt: webhook.updatedAt });

    await run(['--activate', '--yes']);
    const active = await imported('ep_1');
    expect(active.active).toBe(true);
    Object.assign(made, { filterTypes: ['invoice.paid'], secret: newSecret(), disabled: true });
    expect(await run(['--activate', '--yes'])).toMatchObject({ code: 0, stdout: 'kept 1.\n' });
    expect(await imported('ep_1')).toEqual(active);
  });

  it('is continued by repeating it after kill -9', async () => {
    for (let i = 0; i < 300; i += 1) endpoint(`ep_${i}`);
    const killed = start(['--yes']);
    await waitFor(() => killed.stdout().includes('created  '), { what: 'a created webhook', everyMs: 1 });
    expect(await killed.kill()).toBe(true);
    const before = await webhooks();
    expect(before.length).toBeGreaterThan(0);
    expect(before.length).toBeLessThan(300);

    const { code, stdout } = await run(['--yes']);
    expect(code).toBe(0);
    const after = await webhooks();
    expect(after.map(({ externalId }) => externalId).sort()).toEqual(
      [...svix.endpoints.keys()].map((id) => `svix:app_1:${id}`).sort(),
    );
    // What was done is not done again. A request that was under way when the command was killed may have been after it.
    expect(stdout.match(/^created {2}/gm)!.length).toBeLessThanOrEqual(after.length - before.length);
    expect(after).toEqual(expect.arrayContaining(before));
  });
});
