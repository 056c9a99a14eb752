// The commands run the built service. They build it only where nobody has: a running service lives in the same folder.
const { execFileSync } = require('node:child_process');
const { existsSync } = require('node:fs');

if (!existsSync('dist/src/main.js'))
  execFileSync('npm', ['run', 'build'], { stdio: 'inherit', shell: process.platform === 'win32' });
