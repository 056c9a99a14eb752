import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const MAX_FILES = 20;

/** Paths of the source files below this folder, without specs. */
const sources = readdirSync(__dirname, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'));

const groupsOf = (items: readonly string[], keyOf: (item: string) => string): Map<string, string[]> => {
  const groups = new Map<string, string[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
};
const several = (groups: Map<string, string[]>): string[][] => [...groups.values()].filter(({ length }) => length > 1);

describe('The tree of src', () => {
  it('has no folder of more than twenty files', () => {
    const folders = groupsOf(sources, dirname);
    expect([...folders].filter(([, files]) => files.length > MAX_FILES).map(([folder]) => folder)).toEqual([]);
    expect(folders.size).toBeGreaterThan(20);
  });

  it('has no two files with the same name', () => {
    expect(several(groupsOf(sources, (path) => basename(path)))).toEqual([]);
  });

  it('has no two files whose names differ only by an s', () => {
    const withoutS = (path: string) =>
      basename(path, '.ts')
        .replaceAll(/[^a-z0-9]/g, '')
        .replaceAll('s', '');
    expect(several(groupsOf(sources, withoutS))).toEqual([]);
  });

  it('has a file for every role', () => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- a CommonJS file without types
    const { roles, entryPoints } = require(join(__dirname, '../scripts/roles.cjs')) as Record<string, string[]>;
    expect(roles?.filter((role) => !sources.some((path) => path.endsWith(`.${role}.ts`)))).toEqual([]);
    expect(entryPoints?.filter((path) => !sources.includes(path.replace('src/', '')))).toEqual([]);
  });

  // An HTTP client that is safe against SSRF, a filter language, and formats: pure enough to be packages of their own.
  it.each([
    // A module wires, so it reads the settings.
    ['infrastructure/destinations', ['destinations.module.ts: ../config/config']],
    ['webhooks/filter', []],
    ['webhooks/formats', []],
  ])('lets %s import nothing else of src', (folder, exceptions) => {
    const files = sources.filter((path) => path.startsWith(`${folder}/`));
    const imports = files.flatMap((path) => {
      const text = readFileSync(join(__dirname, path), 'utf8');
      const paths = [...text.matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*['"`](\.[^'"`]+)/g)];
      return paths.map(([, to = '']) => ({ to, from: basename(path) }));
    });
    expect(imports.length).toBeGreaterThan(5);
    const others = imports.filter(({ to }) => !/^\.\/[^/]+$/.test(to));
    expect(others.map(({ from, to }) => `${from}: ${to}`)).toEqual(exceptions);
  });
});
