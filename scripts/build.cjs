// `npm run build`. With `--if-changed` it does nothing when `dist` was built from these very sources, with these packages,
// by this version of Node.
const { createHash } = require('node:crypto');
const { spawnSync } = require('node:child_process');
const { existsSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

const root = dirname(require.resolve('../package.json'));
/** Removed at the beginning of each build, as all of `dist` is; so it only stands beside a build that has ended well. */
const note = join(root, 'dist', '.built-from');
const files = [
  'package.json',
  'package-lock.json',
  'nest-cli.json',
  'openapi.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'ormconfig.ts',
];

function sourcesIn(folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, path, name }) => join(parentPath ?? path, name));
}

const isSource = (path) => !path.includes(join('webhook-notification', 'dist'));
const withoutTypes = (path) => !/openapi\.(d|gen)\.ts$/.test(path);

function hash() {
  const sum = createHash('sha256').update(process.version);
  for (const path of [
    ...files.map((file) => join(root, file)),
    ...sourcesIn('src').sort(),
    ...sourcesIn('console').filter(withoutTypes).sort(),
    ...sourcesIn('packages/webhook-notification').filter(isSource).filter(withoutTypes).sort(),
  ]) {
    const content = readFileSync(path);
    sum.update(`\0${path.slice(root.length)}\0${content.length}\0`).update(content);
  }
  return sum.digest('hex');
}

// Taken before the build: what is saved meanwhile is built the next time.
const now = hash();
const isThere = existsSync(note) && existsSync(join(root, 'packages/webhook-notification/dist'));
if (process.argv.includes('--if-changed') && isThere && readFileSync(note, 'utf8') === now) process.exit(0);
const nest = require.resolve('@nestjs/cli/bin/nest.js', { paths: [root] });
const steps = [[join(root, 'scripts', 'build-package.cjs')], [nest, 'build'], [join(root, 'console', 'build.mjs')]];
const run = (step) => spawnSync(process.execPath, step, { cwd: root, stdio: 'inherit' }).status ?? 1;
const status = steps.reduce((failed, step) => failed || run(step), 0);
if (status === 0) writeFileSync(note, now);
process.exitCode = status;
