import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { copyBinaries } from '../../../packages/embedded-postgres/src/binaries-copy';
import { prepareDataFolder } from '../../../packages/embedded-postgres/src/data-folder';
import { lockForService } from '../../../packages/embedded-postgres/src/service-lock';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../packages/embedded-postgres/src/embedded-postgres';
import { readOrCreateSecret } from '../../../packages/embedded-postgres/src/generated-secrets';
import { waitFor } from '../../support/wait-for';

let root: string;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  await chmod(root, 0o755);
});

afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

describe('a generated secret', () => {
  it('is created once, kept, and readable only by its owner', async () => {
    expect(await readOrCreateSecret(root, 'secrets.key', () => 'one')).toEqual({ value: 'one', created: true });
    expect(await readOrCreateSecret(root, 'secrets.key', () => 'two')).toEqual({ value: 'one', created: false });
    expect((await stat(join(root, 'secrets.key'))).mode & 0o777).toBe(0o600);
  });

  it('is the same for all concurrent callers', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, i) => readOrCreateSecret(root, 'contested', () => `secret ${i}`)),
    );
    expect(new Set(made.map(({ value }) => value)).size).toBe(1);
    expect(made.filter(({ created }) => created)).toHaveLength(1);
    expect((await readdir(root)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('is not replaced when its file is empty, because encrypted data would be lost', async () => {
    await writeFile(join(root, 'empty'), '');
    await expect(readOrCreateSecret(root, 'empty', () => 'new')).rejects.toThrow(/is empty: restore it/);
  });
});

describe('the data folder', () => {
  it('keeps its mode when it contains other files', async () => {
    const folder = join(root, 'foreign');
    await mkdir(folder);
    await writeFile(join(folder, 'README'), 'mine');
    await chmod(folder, 0o755);
    expect(await prepareDataFolder(folder)).toBe(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o755);
  });

  it('is closed to other users when it is new or empty', async () => {
    const folder = join(root, 'made', 'below');
    await prepareDataFolder(folder);
    expect((await stat(folder)).mode & 0o066).toBe(0);
    await chmod(folder, 0o777);
    await prepareDataFolder(folder);
    expect((await stat(folder)).mode & 0o066).toBe(0);
  });
});

describe('a copy of the PostgreSQL binaries', () => {
  it('is made once by concurrent callers, and is readable by every user', async () => {
    const bundled = join(root, 'bundled');
    await mkdir(join(bundled, 'native', 'bin'), { recursive: true, mode: 0o700 });
    await writeFile(join(bundled, 'package.json'), '{"version":"1.2.3"}');
    await writeFile(join(bundled, 'native', 'bin', 'postgres'), '', { mode: 0o700 });
    const home = join(root, 'home');
    await mkdir(home);
    const copies = await Promise.all([1, 2, 3].map(() => copyBinaries(bundled, 'linux-x64', home)));
    expect(new Set(copies)).toEqual(new Set([join(home, 'postgresql-1.2.3-linux-x64')]));
    expect(await readdir(home)).toEqual(['postgresql-1.2.3-linux-x64']);
    expect((await stat(resolve(copies[0]!, 'native', 'bin'))).mode & 0o777).toBe(0o755);
    expect((await stat(resolve(copies[0]!, 'native', 'bin', 'postgres'))).mode & 0o777).toBe(0o755);
  });
});

describe('the lock on the data folder', () => {
  let embedded: EmbeddedPostgres;
  let admin: Client;

  beforeAll(async () => {
    embedded = await startEmbeddedPostgres({ dataDir: join(root, 'data') });
    admin = new Client({ connectionString: embedded.url });
    await admin.connect();
  });

  afterAll(async () => {
    await admin?.end();
    await embedded?.stop();
    expect(await readFile(join(root, 'data', 'postgres', 'postmaster.pid'), 'utf8').catch(() => null)).toBeNull();
  });

  const holders = async () => {
    const { rows } = await admin.query<{ pid: number; name: string }>(
      `select pid, application_name as name from pg_stat_activity
        where pid in (select pid from pg_locks where locktype = 'advisory' and granted)`,
    );
    return rows;
  };

  it('names its process, excludes others, and can be acquired again after its release', async () => {
    const lock = await lockForService(embedded, '/some/folder');
    expect((await holders())[0]?.name).toMatch(new RegExp(` pid ${process.pid}$`));
    await expect(lockForService(embedded, '/some/folder')).rejects.toThrow(
      `Another process (pid ${process.pid}) already runs on /some/folder: stop it first, or set DATA_DIR or DATABASE_URL.`,
    );
    await lock.release();
    const again = await lockForService(embedded, '/some/folder');
    await again.release();
  });

  it('is reacquired when its connection breaks, but not after its release', async () => {
    const lock = await lockForService(embedded, '/some/folder');
    const [before] = await holders();
    await admin.query('select pg_terminate_backend($1)', [before?.pid]);
    const [after] = await waitFor(
      async () => {
        const found = await holders();
        return found[0] && found[0].pid !== before?.pid && found;
      },
      { what: 'the reacquired lock' },
    );
    await lock.release();
    await waitFor(async () => (await holders()).length === 0, { what: 'the release of the lock' });
    await lock.release();
    expect(after?.name).toBe(before?.name);
  });
});
