import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minVersion, satisfies } from 'semver';

interface Locked {
  engines?: { node?: string; npm?: string };
  hasInstallScript?: boolean;
}

const read = <T>(path: string): T => JSON.parse(readFileSync(join(__dirname, '..', path), 'utf8')) as T;

const own = read<{ engines: { node: string }; allowScripts: Record<string, boolean> }>('package.json');
const { packages } = read<{ packages: Record<string, Locked> }>('package-lock.json');
const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** The oldest supported Node.js of each line, with the npm that it brings. */
const VERSIONS = [
  { node: minVersion(own.engines.node)?.version ?? '', npm: '10.8.2' },
  { node: '22.13.0', npm: '10.9.2' },
  { node: '24.11.0', npm: '11.6.1' },
];

describe('package-lock.json', () => {
  // npm prints EBADENGINE for every other package.
  it.each(VERSIONS)('has only packages that run on Node.js $node with npm $npm', (versions) => {
    const refuses = ({ engines }: Locked): boolean =>
      !satisfies(versions.node, engines?.node ?? '*') || !satisfies(versions.npm, engines?.npm ?? '*');
    expect(Object.entries(packages).flatMap(([path, locked]) => (refuses(locked) ? [path] : []))).toEqual([]);
  });

  // npm 11 warns about every other package, and the embedded PostgreSQL has one for each platform.
  it('has an entry of allowScripts for each package with install scripts', () => {
    const scripted = Object.entries(packages).flatMap(([path, each]) => (each.hasInstallScript ? [nameOf(path)] : []));
    expect(scripted.filter((name) => !(name in own.allowScripts))).toEqual([]);
  });
});
