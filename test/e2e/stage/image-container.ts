import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImageConfig } from './image-build';

const NAMESPACES = ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type }));
const NONE = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] };
const TMPFS = { type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] };

interface Run {
  files: string;
  config: ImageConfig;
  environment: Record<string, string>;
  /** A folder of this machine to mount as /data. */
  data?: string;
  command?: string[];
}

/**
 * A container of an image, run by `runc` as Kubernetes would with restricted pod security: the image's user, no capability, no
 * new privileges, a root that is read-only, and the network of this machine.
 */
export class ImageContainer {
  output = '';
  private readonly name = `image-${randomBytes(6).toString('hex')}`;
  private readonly bundle = mkdtempSync(join(tmpdir(), 'bundle-'));
  private readonly child: ChildProcess;
  private readonly ended: Promise<unknown>;

  constructor(run: Run) {
    writeFileSync(join(this.bundle, 'config.json'), JSON.stringify(specOf(run)));
    this.child = spawn('runc', ['run', '--bundle', this.bundle, this.name], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.ended = once(this.child, 'exit');
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
  }

  /** Runs a command in the container. Returns what it prints. */
  exec(...command: string[]): string {
    return execFileSync('runc', ['exec', this.name, ...command], { encoding: 'utf8' });
  }

  /** Ends the container, as `docker stop` or `docker kill` does. Returns the exit code. */
  async end(signal?: NodeJS.Signals): Promise<number | null> {
    if (signal !== undefined && this.child.exitCode === null) execFileSync('runc', ['kill', this.name, signal]);
    await this.ended;
    rmSync(this.bundle, { recursive: true, force: true });
    return this.child.exitCode;
  }
}

function specOf({ files, config, environment, data, command }: Run): object {
  const [uid, gid] = config.User.split(':').map(Number);
  const env = { ...Object.fromEntries(config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2))), ...environment };
  return {
    ociVersion: '1.0.2',
    root: { path: files, readonly: true },
    process: {
      user: { uid, gid },
      cwd: config.WorkingDir,
      args: command ?? config.Cmd,
      env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      capabilities: NONE,
      noNewPrivileges: true,
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { ...TMPFS, destination: '/dev', options: ['nosuid', 'mode=755'] },
      { ...TMPFS, destination: '/dev/shm' },
      { ...TMPFS, destination: '/tmp' },
      ...(data === undefined ? [] : [{ destination: '/data', type: 'bind', source: data, options: ['rbind'] }]),
    ],
    linux: { namespaces: NAMESPACES },
  };
}
