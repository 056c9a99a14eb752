import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skip } from '../../support/programs';

/** A disk of its own, of 200 MiB, in memory. */
export interface SmallDisk {
  readonly folder: string;
  fill(): void;
  makeRoom(): void;
}

/** Tests that need a disk of their own, which are skipped where this user may not mount one. */
export function describeWithSmallDisk(title: string, tests: (disk: () => SmallDisk) => void): void {
  const probe = mount();
  if (!probe) return skip(title, 'right to mount a disk', () => it('is skipped', () => undefined));
  unmount(probe);
  describe(title, () => {
    let folder: string | null = null;
    beforeAll(() => {
      folder = mount();
    });
    afterAll(() => {
      if (folder) unmount(folder);
    });
    tests(() => {
      if (!folder) throw new Error('The disk is there only while tests run.');
      const filler = join(folder, 'filler');
      return {
        folder,
        fill: () => void spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1M']),
        makeRoom: () => rmSync(filler),
      };
    });
  });
}

function mount(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'none', folder]).status === 0) return folder;
  rmdirSync(folder);
  return null;
}

/** Also while something on it is still open. */
function unmount(folder: string): void {
  spawnSync('umount', ['-l', folder]);
  rmdirSync(folder);
}
