// `npm run build`: the library, its commands, the embedded database, the service and the console. `--if-changed` skips each part that
// was already built from the same sources and packages with the same version of Node.
const { createHash } = require('node:crypto');
const { spawnSync } = require('node:child_process');
const { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

/** Development packages that compile. */
const compilers = ['@nestjs/cli', 'esbuild', 'openapi-typescript', 'typescript'];
const root = dirname(require.resolve('../package.json'));
const library = 'packages/webhook-notification';
const commands = 'packages/webhook-notification-cli';
const embedded = 'packages/embedded-postgres';
const everywhere = ['package.json', 'package-lock.json', 'tsconfig.json', 'scripts/build.cjs'];
const parts = [
  {
    name: 'library',
    from: ['openapi.json', 'scripts/library-types.cjs', `${library}/tsconfig.json`, `${library}/src`],
    into: `${library}/dist`,
    command: ['scripts/build-package.cjs', library],
  },
  {
    name: 'commands',
    from: [`${library}/src`, `${commands}/tsconfig.json`, `${commands}/src`],
    into: `${commands}/dist`,
    command: ['scripts/build-package.cjs', commands],
  },
  {
    name: 'embedded-postgres',
    from: [`${embedded}/tsconfig.json`, `${embedded}/src`],
    into: `${embedded}/dist`,
    command: ['scripts/build-package.cjs', embedded],
  },
  {
    name: 'service',
    from: ['nest-cli.json', 'tsconfig.build.json', 'ormconfig.ts', 'src', `${library}/src`, `${embedded}/src`],
    into: 'dist/src',
    command: ['node_modules/@nestjs/cli/bin/nest.js', 'build'],
  },
  {
    name: 'console',
    from: ['openapi.json', 'console', `${library}/src/signature`],
    into: 'dist/console',
    command: ['console/build.mjs'],
  },
];

/** Excludes the files that are generated from openapi.json. */
function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  const entries = readdirSync(path, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && !/^openapi\.(d|gen)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function hash(sources) {
  const sum = createHash('sha256').update(process.version);
  for (const path of sources.flatMap((source) => filesIn(join(root, source)))) {
    const content = readFileSync(path);
    sum.update(`\0${path.slice(root.length)}\0${content.length}\0`).update(content);
  }
  return sum.digest('hex');
}

const noteOf = ({ name }) => join(root, 'dist', '.built', name);
const hashOf = ({ from }) => hash([...everywhere, ...from]);

function isUpToDate(part) {
  const isThere = existsSync(noteOf(part)) && existsSync(join(root, part.into));
  return isThere && readFileSync(noteOf(part), 'utf8') === hashOf(part);
}

/** Returns whether the build succeeded. */
function build(part) {
  const note = noteOf(part);
  // Computed before the build, so that files saved meanwhile are rebuilt the next time.
  const now = hashOf(part);
  rmSync(note, { force: true });
  rmSync(join(root, part.into), { recursive: true, force: true });
  if (spawnSync(process.execPath, part.command, { cwd: root, stdio: 'inherit' }).status !== 0) return false;
  mkdirSync(dirname(note), { recursive: true });
  writeFileSync(note, now);
  return true;
}

/** Returns whether all parts are up to date at the end. */
function main() {
  const changed = process.argv.includes('--if-changed') ? parts.filter((part) => !isUpToDate(part)) : parts;
  if (changed.length === 0) return true;
  const missing = compilers.filter((name) => !existsSync(join(root, 'node_modules', name)));
  if (missing.length > 0) {
    const why = 'npm omits development packages when NODE_ENV is production';
    console.error(`Cannot build without ${missing.join(', ')} (${why}): run \`npm ci --include=dev\`.`);
    return false;
  }
  console.error('Building the service (about 30 s, only after changes)…');
  return changed.every(build);
}

process.exitCode = main() ? 0 : 1;
