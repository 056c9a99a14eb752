#!/usr/bin/env node
// The `webhooks` program. A package and the image are built; in a checkout this builds where nobody has. It never builds
// again, because a running service lives in the same folder.
const { execFileSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { dirname, join } = require('node:path');

const root = dirname(require.resolve('../package.json'));
const program = join(root, 'dist/src/commands/webhooks.command.js');
if (!existsSync(program)) {
  // On standard error: what a command prints may be read by another program.
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
}
require(program);
