import { spawnSync } from 'node:child_process';

/** Tests that run a program that this repository does not install. Where it is missing they are reported as skipped, and a line says so. */
export function describeWhereInstalled(command: string, title: string, tests: () => void): void {
  const isInstalled = spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
  if (!isInstalled) process.stderr.write(`\nSKIPPED: ${title}, because there is no ${command} on this machine.\n`);
  (isInstalled ? describe : xdescribe)(title, tests);
}
