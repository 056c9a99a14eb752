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

describe('The build before a start', () => {
  let folder: string;
  const source = (text: string) => writeFile(join(folder, 'src/main.ts'), text);
  const built = () => readFile(join(folder, 'dist/src/main.js'), 'utf8');
  const builtAt = async () => (await stat(join(folder, 'dist/src/main.js'))).mtimeMs;
  const build = () => spawnSync(process.execPath, [join(folder, 'scripts/build.cjs'), '--if-changed']).status;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'build-test-'));
    for (const file of FILES) await cp(join(ROOT, file), join(folder, file), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await mkdir(join(folder, 'src'));
    await writeFile(join(folder, 'ormconfig.ts'), 'export default 1;\n');
    await source('export const answer = 41;\n');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is made when a source, the console or the library has changed, and only then', async () => {
    const page = () => readFile(join(folder, 'dist/console/index.html'), 'utf8');
    expect(build()).toBe(0);
    const [before, beforeAt] = [await page(), await builtAt()];
    // The types of the console come out of openapi.json, when they are looked at.
    await appendFile(join(folder, 'console/src/api/openapi.d.ts'), '// again\n');
    expect(build()).toBe(0);
    expect(await builtAt()).toBe(beforeAt);
    await source('export const answer = 42;\n');
    expect(build()).toBe(0);
    expect(await built()).toContain('answer = 42');
    await appendFile(join(folder, 'console/src/main.tsx'), '\nconsole.info("changed");\n');
    expect(build()).toBe(0);
    expect(await page()).not.toBe(before);
    const library = (file: string) => join(folder, 'packages/webhook-notification', file);
    await appendFile(library('src/webhook-notification.ts'), '\nexport const changed = true;\n');
    expect(build()).toBe(0);
    const entry = library('dist/webhook-notification.js');
    expect(await readFile(entry, 'utf8')).toContain('changed = true');
    await rm(library('dist'), { recursive: true });
    expect(build()).toBe(0);
    expect(await readFile(entry, 'utf8')).toContain('changed = true');
  });

  it('is made again after one that failed', async () => {
    await source('export const answer: string = 41;\n');
    expect(build()).not.toBe(0);
    expect(build()).not.toBe(0);
    await source('export const answer = 41;\n');
    expect(build()).toBe(0);
    expect(await built()).toContain('answer = 41');
  });
});
