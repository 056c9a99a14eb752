import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeWhereInstalled } from '../../support/programs';

const ROOT = join(__dirname, '../../..');

describe('The images', () => {
  it('are built from files that are sent to where they are built', () => {
    const linesOf = (file: string) => readFileSync(join(ROOT, file), 'utf8').split('\n');
    const copied = linesOf('Dockerfile').flatMap((line) => {
      const [, sources] = /^COPY (?!--from)(.+) \S+$/.exec(line) ?? [];
      return sources ? sources.split(' ') : [];
    });
    const sent = linesOf('.dockerignore').flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((path) => !sent.includes(path))).toEqual([]);
    for (const path of copied) expect(existsSync(join(ROOT, path))).toBe(true);
  });
});

describeWhereInstalled('hadolint', 'The Dockerfile, by hadolint', () => {
  it('has no fault', () => {
    const { stdout, status } = spawnSync('hadolint', ['Dockerfile'], { cwd: ROOT, encoding: 'utf8' });
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
  });
});
