import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataOf } from '../../support/api';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { capture, endProcess, serviceFile, useServiceProcess, WEBHOOKS } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { settledDeliveries, subscribe } from '../stage/steps';

const COMMAND = join(__dirname, '../../../packages/webhook-notification-cli/dist/command.js');
const WEBHOOKS_PROGRAM = serviceFile(WEBHOOKS);
const SCOPES = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'deliveries:write', 'events:publish'];
const ELSEWHERE = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('webhook-notification, with a token of the service', () => {
  const service = useServiceProcess({ EXTRA_EVENT_TYPES: 'invoice.paid' });
  const receiver = useReceiver();
  let token: string;
  let folder: string;
  let outbox: TestDatabase;
  beforeAll(async () => {
    outbox = await cloneDatabase();
    await run(['outbox', 'migrate', '--database-url', outbox.url]);
    token = await service.createToken('alice', SCOPES);
    folder = await mkdtemp(join(tmpdir(), 'service-commands-'));
  });
  afterAll(() => Promise.all([rm(folder, { recursive: true, force: true }), outbox.drop()]));

  const environment = (WEBHOOKS_TOKEN = token, more: NodeJS.ProcessEnv = {}) => ({
    env: { ...process.env, WEBHOOKS_TOKEN, ...more },
  });
  const at = () => ['--service', service.url];
  const api = () => service.api.withToken(token);

  function run(
    args: readonly string[],
    options = environment(),
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    return new Promise((resolve) => {
      execFile(process.execPath, [COMMAND, ...args], options, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
      });
    });
  }

  it('trigger publishes the example of a type, or the data of a file, and redeliver sends it again', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(api(), hook, ['*']);
    const { code, stdout } = await run(['trigger', 'follower.gained', ...at()]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f-]{36}\n$/)]);
    const [delivery] = await settledDeliveries(api(), webhook, { id: stdout.trim() });
    expect(delivery).toMatchObject({ status: 'succeeded', event: 'follower.gained' });

    const again = await run(['redeliver', delivery!.id, ...at()]);
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f-]{36}\n$/)]);
    await waitFor(
      async () => (await dataOf(api().readDelivery(webhook.id, again.stdout.trim()))).status === 'succeeded',
      {
        what: 'the redelivery',
      },
    );

    const file = join(folder, 'data.json');
    await writeFile(file, '{"amountCents": 1200}');
    const paid = await run(['trigger', 'invoice.paid', '--data', file, '--subject', 'invoice/7 é', ...at()]);
    await settledDeliveries(api(), webhook, { id: paid.stdout.trim() });
    expect(hook.calls.map(({ body }) => JSON.parse(body.toString()) as object)).toContainEqual(
      expect.objectContaining({ event: 'invoice.paid', subject: 'invoice/7 é', data: { amountCents: 1200 } }),
    );
  });

  it('tail prints attempts until it is interrupted, as lines without control characters or as objects', async () => {
    const webhook = await subscribe(api(), receiver.hook(), ['job.started']);
    const tails = [['tail'], ['tail', '--json', '--webhook', webhook.id, '--status', 'succeeded']].map((args) =>
      spawn(process.execPath, [COMMAND, ...args, ...at()], { ...environment(), stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    const [lines, objects] = tails.map((child) => capture(child, ['stdout']));
    const said = tails.map((child) => capture(child, ['stderr']));
    await waitFor(() => said.every((text) => text().includes('Waiting')), { what: 'both to wait for attempts' });
    await run(['trigger', 'job.started', ...at()]);
    const haveIt = () => lines!().includes('succeeded') && objects!().includes('succeeded');
    await waitFor(haveIt, { what: 'both to print a delivery' });
    expect(lines!()).toMatch(/^\d\d:\d\d:\d\d {2}job\.started {2}succeeded \(attempt 1\) {2}200 {2}\d+ ms {2}/m);
    expect(lines!()).not.toMatch(UNPRINTABLE);
    const [first = ''] = objects!().split('\n');
    expect(JSON.parse(first)).toMatchObject({ webhookId: webhook.id, event: 'job.started', status: 'succeeded' });
    for (const child of tails) expect(await endProcess(child, 'SIGINT')).toBe(0);
  });

  it.each<[string, string[], RegExp, number]>([
    ['an unknown event', ['trigger', 'no.such'], /no event type/, 1],
    ['a subject with a line break', ['trigger', 'invoice.paid', '--subject', 'a\nb'], /subject must be/, 1],
    ['data that is no object', ['trigger', 'invoice.paid', '--data', __filename], /JSON object/, 2],
    ['another user without the scope', ['trigger', 'follower.gained', '--user', 'bob'], /events:broadcast/, 1],
    ['no event', ['trigger'], /one event/, 2],
    ['an operand too many', ['tail', 'job.started'], /no operand/, 2],
    ['a foreign delivery', ['redeliver', ELSEWHERE], /no delivery/, 1],
    ['an unknown status', ['tail', '--status', 'good'], /status/, 1],
  ])('says what is wrong with %s', async (_, args, message, code) => {
    const { stderr, ...finished } = await run([...args, ...at()]);
    expect({ ...finished, stderr }).toEqual({ code, stdout: '', stderr: expect.stringMatching(message) });
  });

  it('sends the token in clear text only to this machine, and requires one', async () => {
    expect(await run(['tail', '--service', 'http://hooks.example'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('clear text'),
    });
    expect(await run(['tail', ...at()], environment(''))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('WEBHOOKS_TOKEN'),
    });
  });

  // Each fails at the service for a reason that only this service can give, or changes nothing.
  it.each<[string, string[], object]>([
    ['trigger', ['no.such'], { code: 1, stderr: expect.stringContaining('no event type') }],
    ['redeliver', [ELSEWHERE], { code: 1, stderr: expect.stringContaining('no delivery') }],
    ['tail', ['--status', 'good'], { code: 1, stderr: expect.stringContaining('status') }],
    ['listen', ['--to', 'http://localhost:1'], { code: 1, stderr: expect.stringContaining('messages:pull') }],
    ['import csv', ['FILE'], { code: 0, stdout: expect.stringContaining('would create  env-1') }],
    ['status', ['--database-url', 'DATABASE'], { stdout: expect.stringContaining('The token publishes as alice') }],
  ])('%s reads WEBHOOKS_URL and WEBHOOKS_TOKEN, and --service overrides the address', async (name, args, finished) => {
    const file = join(folder, 'webhooks.csv');
    await writeFile(file, 'externalId,url,events\nenv-1,https://env-1.example,follower.gained\n');
    const line = [...name.split(' '), ...args.map((arg) => ({ FILE: file, DATABASE: outbox.url })[arg] ?? arg)];
    expect(await run(line, environment(token, { WEBHOOKS_URL: `${service.url}/` }))).toMatchObject(finished);
    const elsewhere = environment(token, { WEBHOOKS_URL: 'http://127.0.0.1:1' });
    expect(await run([...line, ...at()], elsewhere)).toMatchObject(finished);
  });

  it('explains both variables in the help of each command that calls the service', async () => {
    const { stdout: usage } = await run(['--help']);
    const names = [...usage.matchAll(/webhook-notification ((?:(?:outbox|import) )?\w+) .*/g)]
      .filter(([text]) => !/ (outbox|completion|<command>) /.test(text))
      .map(([, name = '']) => name);
    expect(names).toEqual(['listen', 'trigger', 'tail', 'redeliver', 'import svix', 'import csv', 'status']);
    for (const name of names) {
      const { stdout } = await run([...name.split(' '), '--help']);
      expect(stdout).toMatch(/WEBHOOKS_URL is the address .*--service overrides it.* WEBHOOKS_TOKEN/);
    }
  });

  it.each([
    ['localhost:3000', []],
    ['hooks.example.com', []],
    ['https://user:hidden@hooks.example.com', []],
    ['https://hooks.example.com', ['--service', 'ftp://hooks.example.com']],
  ])('says how an address must look (WEBHOOKS_URL=%s %s)', async (WEBHOOKS_URL, options) => {
    const { code, stderr } = await run(['tail', ...options], environment(token, { WEBHOOKS_URL }));
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('must be a full URL such as https://hooks.example.com'),
    ]);
    expect(stderr).not.toContain('hidden');
  });

  it('completes commands and options in bash', async () => {
    const { stdout } = await run(['completion', 'bash']);
    const complete = (...words: string[]) => {
      const typed = `COMP_WORDS=(webhook-notification ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}`;
      return execFileSync('bash', ['-c', `${stdout}\n${typed}; _webhook_notification; echo "\${COMPREPLY[@]}"`], {
        encoding: 'utf8',
      }).trim();
    };
    expect(complete('t')).toBe('trigger tail');
    expect(complete('outbox', '')).toBe('sql migrate retry');
    expect(complete('import', '')).toBe('svix csv');
    expect(complete('import', 'svix', '--a')).toBe('--activate --app');
    expect(complete('outbox', 'retry', '--p')).toBe('--position');
    expect(complete('tail', '--w')).toBe('--webhook');
    expect(complete('listen', '--e')).toBe('--events --exit-after');
  });

  it.each([
    ['webhook-notification', COMMAND, ['--help']],
    ['webhook-notification', COMMAND, ['import', 'csv', '--help']],
    ['webhook-notification', COMMAND, ['completion', 'bash']],
    ['webhook-notification', COMMAND, ['outbox', 'sql']],
    ['webhooks', WEBHOOKS_PROGRAM, ['--help']],
    ['webhooks', WEBHOOKS_PROGRAM, ['token', 'create', '--help']],
  ])('ends quietly when the reader of its output has ended: %s %s %s', (_, program, args) => {
    // The reader has ended before the command begins.
    const script = 'exec 3> >(:); wait $!; "$@" >&3';
    const line = ['-c', script, 'bash', process.execPath, program, ...args];
    expect(spawnSync('bash', line, { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  it('explains each command', async () => {
    const { stdout } = await run(['--help']);
    const names = [...stdout.matchAll(/webhook-notification ((?:(?:outbox|import) )?[a-z]+) /g)].map(
      ([, name]) => name!,
    );
    expect(names).toEqual(
      expect.arrayContaining([
        'listen',
        'trigger',
        'tail',
        'redeliver',
        'import svix',
        'import csv',
        'outbox sql',
        'completion',
      ]),
    );
    for (const name of names.filter((name) => name !== 'command'))
      expect(await run([...name.split(' '), '--help'])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`Usage: webhook-notification ${name}`),
      });
  });
});
