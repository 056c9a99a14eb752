import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useService } from '../../support/service';

const ROOT = join(__dirname, '../../..');
const COMMAND = join(ROOT, 'packages/webhook-notification-cli/dist/command.js');
const SCOPES = ['events:publish', 'events:broadcast', 'event-types:manage'];

function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [COMMAND, ...args], { cwd: ROOT }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

describe('webhook-notification', () => {
  const service = useService();
  let database: TestDatabase;
  let at: string[];
  beforeAll(async () => {
    database = await cloneDatabase();
    at = ['--database-url', database.url, '--url', service.url];
  });
  afterAll(() => database.drop());

  const status = async (scopes = SCOPES) => run('status', ...at, '--token', await service.createToken('shop', scopes));

  it('outbox sql prints what outbox migrate runs, and both may come twice', async () => {
    const { stdout } = await run('outbox', 'sql', '--table', 'shop_outbox');
    for (let i = 0; i < 2; i++) await database.query(stdout);
    for (let i = 0; i < 2; i++)
      expect(await run('outbox', 'migrate', '--database-url', database.url)).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
    const columnsOf = (table: string) =>
      database.query(
        'select column_name, data_type, is_nullable from information_schema.columns where table_name = $1 order by 1',
        [table],
      );
    expect(await columnsOf('webhook_outbox')).toEqual(await columnsOf('shop_outbox'));
    expect(await columnsOf('webhook_outbox')).not.toEqual([]);
  });

  it('status is well when nothing waits for long', async () => {
    await database.query(
      `insert into webhook_outbox (name, user_id, data, idempotency_key) values ('order.paid', 'alice', '{}', 'one')`,
    );
    const { code, stdout } = await status();
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^1 events wait in webhook_outbox, the oldest for \d+ s\.\n0 events are set aside/),
    });
    expect(stdout).toContain('The token publishes as shop');
  });

  it.each<[string, string[], RegExp]>([
    [
      'an event waits for minutes',
      [`update webhook_outbox set created_at = now() - interval '2 minutes'`],
      /oldest for 12\d s: nobody relays/,
    ],
    [
      'one was refused',
      [`update webhook_outbox set created_at = now(), refused = 'data must be right'`],
      /1 events are set aside.+\n {2}\d+ order.paid: data must be right/,
    ],
  ])('status is not when %s', async (_, changes, message) => {
    for (const change of changes) await database.query(change);
    const { code, stdout } = await status();
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(message) });
  });

  it('outbox retry lets all events that were refused wait again, or one of them', async () => {
    const refuse = () =>
      database.query(`update webhook_outbox set refused = 'no', claimed_until = now() + interval '1 hour'`);
    await database.query(
      `insert into webhook_outbox (name, user_id, data, idempotency_key) values ('order.paid', 'alice', '{}', 'two')`,
    );
    await refuse();
    const kept = () =>
      database.query<{ position: string; refused: string | null; due: boolean }>(
        'select position, refused, claimed_until <= now() as due from webhook_outbox order by position',
      );
    const [first, second] = await kept();
    expect(
      await run('outbox', 'retry', '--database-url', database.url, '--position', String(second?.position)),
    ).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: '1 events of webhook_outbox wait again.\n',
    });
    expect(await kept()).toEqual([first, { ...second, refused: null, due: true }]);
    await refuse();
    expect(await run('outbox', 'retry', '--database-url', database.url)).toMatchObject({
      stdout: '2 events of webhook_outbox wait again.\n',
    });
    expect((await kept()).map(({ refused }) => refused)).toEqual([null, null]);
    expect(await run('outbox', 'retry', '--database-url', database.url)).toMatchObject({
      stdout: '0 events of webhook_outbox wait again.\n',
    });
    await database.query(`delete from webhook_outbox where idempotency_key = 'two'`);
  });

  it('status is not when what waits was relayed as somebody else', async () => {
    await database.query(`update webhook_outbox set refused = null, relayed_as = 'somebody'`);
    const { code, stdout } = await status();
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('relayed as somebody') });
  });

  it('status prints texts of the table and of the service without what a terminal obeys', async () => {
    const text = 'x\u001b]0;OWNED\u0007\u202e\u2028\u009b';
    await database.query(
      `insert into webhook_outbox (name, user_id, data, idempotency_key, refused, relayed_as)
       values ('${text}', 'alice', '{}', 'h1', '${text}', null), ('order.paid', 'alice', '{}', 'h2', null, '${text}')`,
    );
    const data = { version: text, userId: text, scopes: [text] };
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ success: true, data }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { stdout, stderr } = await run(
      'status',
      '--database-url',
      database.url,
      '--url',
      url,
      '--token',
      'x'.repeat(9),
    );
    server.close();
    expect(stdout.match(/OWNED/g)?.length).toBe(4);
    expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    await database.query(`delete from webhook_outbox where idempotency_key in ('h1', 'h2')`);
  });

  it('status is not with a token that lacks a scope, or is none, or without the service', async () => {
    await database.query('delete from webhook_outbox');
    expect(await status(['events:publish'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('The token lacks events:broadcast and event-types:manage.'),
    });
    const [bad, away] = await Promise.all([
      run('status', ...at, '--token', `wns_${'a'.repeat(43)}`),
      run('status', '--database-url', database.url, '--url', 'http://127.0.0.1:1', '--token', 'x'),
    ]);
    expect(bad).toMatchObject({ code: 1, stdout: expect.stringContaining('Authentication required') });
    expect(away).toMatchObject({ code: 1, stdout: expect.stringContaining('127.0.0.1:1') });
  });

  it.each([
    ['nothing', [], 2],
    ['another word', ['inbox'], 2],
    ['an unknown option', ['status', '--colour', 'red'], 2],
    ['no database', ['outbox', 'migrate'], 2],
    ['a token in clear text', ['status', '--database-url', 'x', '--url', 'http://a.example', '--token', 'x'], 2],
    ['no position', ['outbox', 'retry', '--position', 'x', '--database-url', 'postgres://x'], 2],
    ['a name that cannot be', ['outbox', 'sql', '--table', 'a;b'], 1],
  ])('says what is wrong with %s', async (_, args, code) => {
    const finished = await run(...args);
    expect(finished).toMatchObject({ code, stdout: '' });
    expect(finished.stderr.length).toBeGreaterThan(20);
  });
});
