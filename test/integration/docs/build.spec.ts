import { spawnSync } from 'node:child_process';
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const FILES = [
  ...[
    'package.json',
    'package-lock.json',
    'nest-cli.json',
    'openapi.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts',
    'console',
    'packages',
  ],
];

const ENTRY = 'packages/webhook-notification/dist/catalogue.js';

// Each test builds several times, and a slow machine takes ten seconds for each.

describe('The build before a start', () => {
  let folder: string;
  const source = (text: string) => writeFile(join(folder, 'src/main.ts'), text);
  const built = () => readFile(join(folder, 'dist/src/main.js'), 'utf8');
  const changed = async (file: string) => (await stat(join(folder, file))).mtimeMs;
  const builtAt = () => Promise.all(['dist/src/main.js', 'dist/console/index.html', ENTRY].map(changed));
  const run = () =>
    spawnSync(process.execPath, [join(folder, 'scripts/build.cjs'), '--if-changed'], { encoding: 'utf8' });
  const build = () => run().status;

  beforeAll(async () => {
    // A space is common in the paths of home folders.
    folder = await mkdtemp(join(tmpdir(), 'build test-'));
    for (const file of FILES) await cp(join(ROOT, file), join(folder, file), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await mkdir(join(folder, 'src'));
    await writeFile(join(folder, 'ormconfig.ts'), 'export default 1;\n');
    await source('export const answer = 40;\n');
    const { status, stderr } = run();
    expect(stderr).toMatch(/^Building the service \(about 30 s, only after changes\)…$/m);
    expect(status).toBe(0);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('runs only when a source, the console or the library has changed', async () => {
    const page = () => readFile(join(folder, 'dist/console/index.html'), 'utf8');
    expect(build()).toBe(0);
    const [before, [service, console, library]] = [await page(), await builtAt()];
    // The types of the console are generated from openapi.json and do not count as a source.
    await appendFile(join(folder, 'console/src/api/openapi.d.ts'), '// again\n');
    expect(build()).toBe(0);
    expect(await builtAt()).toEqual([service, console, library]);
    await source('export const answer = 42;\n');
    expect(build()).toBe(0);
    expect(await built()).toContain('answer = 42');
    expect((await builtAt()).slice(1)).toEqual([console, library]);
    await appendFile(join(folder, 'console/src/main.tsx'), '\nconsole.info("changed");\n');
    expect(build()).toBe(0);
    expect(await page()).not.toBe(before);
    expect((await builtAt())[2]).toBe(library);
    await appendFile(
      join(folder, 'packages/webhook-notification/src/catalogue.ts'),
      '\nexport const changed = true;\n',
    );
    expect(build()).toBe(0);
    expect(await readFile(join(folder, ENTRY), 'utf8')).toContain('changed = true');
    await rm(join(folder, 'packages/webhook-notification/dist'), { recursive: true });
    expect(build()).toBe(0);
    expect(await readFile(join(folder, ENTRY), 'utf8')).toContain('changed = true');
  });

  it('runs again after a failed build', async () => {
    await source('export const answer: string = 41;\n');
    expect(build()).not.toBe(0);
    expect(build()).not.toBe(0);
    await source('export const answer = 41;\n');
    expect(build()).toBe(0);
    expect(await built()).toContain('answer = 41');
  });

  it('without development packages starts what is built, and else says what is missing', async () => {
    expect(build()).toBe(0);
    await rm(join(folder, 'node_modules'));
    expect(run()).toMatchObject({ status: 0, stdout: '', stderr: '' });
    await source('export const answer = 43;\n');
    expect(run()).toMatchObject({
      status: 1,
      stdout: '',
      stderr:
        'Cannot build without @nestjs/cli, esbuild, openapi-typescript, typescript ' +
        '(npm omits development packages when NODE_ENV is production): run `npm ci --include=dev`.\n',
    });
    expect(await built()).toContain('answer = 41');
  });
});

describe('package-lock.json', () => {
  it('has the integrity of every package that is downloaded, and no address', async () => {
    const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { integrity?: string; resolved?: string; link?: boolean }>;
    };
    const downloaded = Object.entries(lock.packages).filter(
      ([path, { link }]) => /(^|\/)node_modules\//.test(path) && !link,
    );
    expect(downloaded.length).toBeGreaterThan(900);
    expect(downloaded.filter(([, { integrity, resolved }]) => !integrity || resolved).map(([path]) => path)).toEqual(
      [],
    );
  });
});
