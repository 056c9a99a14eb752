// Builds `packages/webhook-notification`, which the service needs: before it, and before `npm pack`.
const { spawnSync } = require('node:child_process');
const { rmSync } = require('node:fs');
const { dirname, join } = require('node:path');
const writeLibraryTypes = require('./library-types.cjs');

const folder = dirname(require.resolve('../packages/webhook-notification/package.json'));

function compile() {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  const tsc = require.resolve('typescript/bin/tsc');
  process.exitCode = spawnSync(process.execPath, [tsc, '-p', folder], { stdio: ['ignore', 2, 2] }).status ?? 1;
}

void writeLibraryTypes().then(compile);
