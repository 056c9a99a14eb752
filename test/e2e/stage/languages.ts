import { spawnSync } from 'node:child_process';

/** Tests that run programs that this repository does not install. Where one is missing they are reported as skipped, and a line says so. */
export function describeWhereInstalled(commands: string, title: string, tests: () => void): void {
  const isMissing = (command: string) => spawnSync('sh', ['-c', `command -v ${command}`]).status !== 0;
  const missing = commands.split(' ').filter(isMissing);
  for (const command of missing)
    process.stderr.write(`\nSKIPPED: ${title}, because there is no ${command} on this machine.\n`);
  (missing.length === 0 ? describe : xdescribe)(title, tests);
}
