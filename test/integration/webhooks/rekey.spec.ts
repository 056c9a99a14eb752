import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { attachEmbeddedPostgres } from '../../../packages/embedded-postgres/src/embedded-postgres';
import { headerContext, isSealedUnder, NONCE_BYTES, open, seal } from '../../../src/webhooks/secrets/secret-box';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { defaultSettings, runCommand, type Settings } from '../../support/service';
import { waitFor } from '../../support/wait-for';

const [OLD, NEW, LOST] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const INSERT = `insert into webhook_service.webhooks (id, user_id, url, events, secret, previous_secret)
  values ($1, 'ada', 'https://example.com/', '{job.started}', $2, $3)`;

const sealed = (id: string, secret: string, key: Buffer) => seal(secret, id, key, randomBytes(NONCE_BYTES));

interface Row {
  id: string;
  secret: Buffer;
  previous_secret: Buffer | null;
}

describe('webhooks rekey', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await cloneDatabase();
  });
  afterEach(() => database.drop());

  const rotate = (keys: readonly Buffer[], more: Settings = {}) => {
    const SECRETS_KEY = keys.map((key) => key.toString('base64')).join();
    const settings = { ...defaultSettings(database.url, `wns_${'a'.repeat(43)}`), SECRETS_KEY, ...more };
    return runCommand(['rekey'], settings);
  };
  const add = async (secret: [string, Buffer], previous?: [string, Buffer]) => {
    const id = randomUUID();
    await database.query(INSERT, [id, sealed(id, ...secret), previous ? sealed(id, ...previous) : null]);
    return id;
  };
  const rows = () => database.query<Row>('select * from webhook_service.webhooks order by id');
  const rowOf = async (id: string) => (await rows()).find((row) => row.id === id)!;

  it('re-encrypts values of headers, for the same webhook, origin and name', async () => {
    const id = await add(['a secret', OLD]);
    const context = headerContext(id, 'https://example.com/', 'X-Key');
    const value = (key: Buffer) => sealed(context, 'a value', key).toString('base64');
    const headers = JSON.stringify({ 'X-Key': value(OLD), 'X-Lost': value(LOST) });
    await database.query('update webhook_service.webhooks set headers = $2 where id = $1', [id, headers]);
    const { exitCode, stdout } = await rotate([NEW, OLD]);
    expect([exitCode, stdout]).toEqual([1, 'Re-encrypted: 2. Already under the first key: 0.\n']);
    const [row] = await database.query<{ headers: Record<string, string> }>(
      'select headers from webhook_service.webhooks',
    );
    expect(open(Buffer.from(row!.headers['X-Key']!, 'base64'), context, [NEW])).toBe('a value');
    expect(row!.headers['X-Lost']).toBe((JSON.parse(headers) as Record<string, string>)['X-Lost']);
  });

  it('re-encrypts current and previous secrets of every page under the first key, once', async () => {
    await database.query(
      `insert into webhook_service.webhooks (id, user_id, url, events, secret)
       select gen_random_uuid(), 'ada', 'https://example.com/', '{job.started}', '' from generate_series(1, 1100)`,
    );
    for (const { id } of await rows())
      await database.query('update webhook_service.webhooks set secret = $2, previous_secret = $3 where id = $1', [
        id,
        sealed(id, `secret of ${id}`, OLD),
        sealed(id, `previous of ${id}`, OLD),
      ]);
    const before = await rows();
    const { exitCode, stdout, stderr } = await rotate([NEW, OLD]);
    expect([exitCode, stdout, stderr]).toEqual([0, 'Re-encrypted: 2200. Already under the first key: 0.\n', '']);
    const after = await rows();
    for (const { id, secret, previous_secret } of after) {
      expect([open(secret, id, [NEW]), open(previous_secret!, id, [NEW])]).toEqual([
        `secret of ${id}`,
        `previous of ${id}`,
      ]);
    }
    const unchanged = (row: Row) => ({ ...row, secret: null, previous_secret: null });
    expect(after.map(unchanged)).toEqual(before.map(unchanged));
    expect((await rotate([NEW, OLD])).stdout).toBe('Re-encrypted: 0. Already under the first key: 2200.\n');
    expect(await rows()).toEqual(after);
  });

  it('leaves secrets that no key opens, names their webhooks and fails', async () => {
    const [mixed, lost, fine] = [
      await add(['a secret', OLD], ['a lost one', LOST]),
      await add(['lost', LOST]),
      await add(['fine', OLD]),
    ];
    const pasted = randomUUID();
    await database.query(INSERT, [pasted, (await rowOf(fine)).secret, null]);
    const before = [await rowOf(mixed), await rowOf(lost), await rowOf(pasted)];
    const { exitCode, stdout, stderr } = await rotate([NEW, OLD]);
    expect([exitCode, stdout]).toEqual([1, 'Re-encrypted: 2. Already under the first key: 0.\n']);
    expect(stderr).toContain('3 webhooks');
    for (const id of [mixed, lost, pasted]) expect(stderr).toContain(id);
    expect(stderr).not.toContain(fine);
    expect(open((await rowOf(mixed)).secret, mixed, [NEW])).toBe('a secret');
    expect((await rowOf(mixed)).previous_secret).toEqual(before[0]!.previous_secret);
    expect([await rowOf(lost), await rowOf(pasted)]).toEqual(before.slice(1));
  });

  it('keeps a secret that is rotated while it runs, and re-encrypts the previous one', async () => {
    const id = await add(['the first', OLD]);
    const before = await rowOf(id);
    const newer = sealed(id, 'the second', NEW);
    const user = new Client({ connectionString: database.url });
    await user.connect();
    await user.query('begin');
    await user.query('update webhook_service.webhooks set secret = $2, previous_secret = secret where id = $1', [
      id,
      newer,
    ]);
    const rotation = rotate([NEW, OLD]);
    const waiting = `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%update webhook_service.webhooks%'`;
    await waitFor(async () => (await database.query(waiting)).length > 0, { what: 'an update that waits' });
    await user.query('commit');
    await user.end();
    expect(await rotation).toMatchObject({
      exitCode: 0,
      stdout: 'Re-encrypted: 1. Already under the first key: 1.\n',
    });
    const after = await rowOf(id);
    expect(after.secret).toEqual(newer);
    expect(isSealedUnder(before.secret, OLD)).toBe(true);
    expect(open(after.previous_secret!, id, [NEW])).toBe('the first');
  });

  it('works on the embedded database, running or not', async () => {
    const root = await mkdtemp(join(tmpdir(), 'rotate-'));
    await chmod(root, 0o755);
    const settings = { DATA_DIR: join(root, 'data'), DATABASE_URL: undefined, ALLOWED_NETWORKS: undefined };
    try {
      // The first run creates the database and its generated key.
      const first = await rotate([], settings);
      expect([first.exitCode, first.stdout]).toEqual([0, 'Re-encrypted: 0. Already under the first key: 0.\n']);
      const generated = Buffer.from(await readFile(join(settings.DATA_DIR, 'secrets.key'), 'utf8'), 'base64');
      const running = await attachEmbeddedPostgres({ dataDir: settings.DATA_DIR });
      const client = new Client({ connectionString: running.url });
      try {
        await client.connect();
        const id = randomUUID();
        await client.query(INSERT, [id, sealed(id, 'embedded', generated), null]);
        expect(await rotate([NEW, generated], settings)).toMatchObject({
          exitCode: 0,
          stdout: 'Re-encrypted: 1. Already under the first key: 0.\n',
        });
        const { rows: after } = await client.query<Row>('select * from webhook_service.webhooks');
        expect(open(after[0]!.secret, id, [NEW])).toBe('embedded');
      } finally {
        await client.end();
        await running.stop();
      }
    } finally {
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});
