#!/usr/bin/env node
// The `webhooks` program. A package and the image are already built; a checkout is built here if it is not built yet.
// It is never rebuilt, because a running service uses the same folder.
const { execFileSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { dirname, join } = require('node:path');

const root = dirname(require.resolve('../package.json'));
const program = join(root, 'dist/src/commands/webhooks.command.js');
if (!existsSync(program)) {
  // On standard error, because other programs may read the output of a command.
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
}
require(program);
