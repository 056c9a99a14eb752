// Builds a folder of `packages`: the one that is named, or else the one in which `npm pack` runs.
const { spawnSync } = require('node:child_process');
const { rmSync } = require('node:fs');
const { join, resolve } = require('node:path');
const writeLibraryTypes = require('./library-types.cjs');

const folder = resolve(process.argv[2] ?? '.');

function compile() {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  const tsc = require.resolve('typescript/bin/tsc');
  process.exitCode = spawnSync(process.execPath, [tsc, '-p', folder], { stdio: ['ignore', 2, 2] }).status ?? 1;
}

void writeLibraryTypes().then(compile);
