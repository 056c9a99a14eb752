import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const NODE = `node-linux-${process.arch}`;
/** What a folder of Debian has and its slim image has not. */
const NOT_IN_SLIM = ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/man', 'usr/share/info', 'usr/share/locale'];

/**
 * Builds the images of the Dockerfile without Docker and its registry: with buildah, on base images that are made here of
 * Debian's packages and the Node.js of npm. Needs root and the programs `debootstrap` and `buildah`.
 */
export class ImageBuild {
  private readonly folder = mkdtempSync(join(tmpdir(), 'image-'));

  /** Makes the base images `debian:trixie-slim` and `node:24-trixie-slim`. */
  prepare(): void {
    const [debian, node] = [join(this.folder, 'debian'), join(this.folder, 'node')];
    execFileSync('debootstrap', ['--variant=minbase', 'trixie', debian], { stdio: 'ignore' });
    for (const path of NOT_IN_SLIM) rmSync(join(debian, path), { recursive: true, force: true });
    this.commit('scratch', debian, 'docker.io/library/debian:trixie-slim');

    const local = join(node, 'usr/local');
    mkdirSync(join(local, 'bin'), { recursive: true });
    cpSync(join(this.unpacked(`${NODE}@24`), 'bin/node'), join(local, 'bin/node'));
    cpSync(join(this.unpacked(`${NODE}@24`), 'LICENSE'), join(local, 'LICENSE'));
    cpSync(this.unpacked('npm@11'), join(local, 'lib/node_modules/npm'), { recursive: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
    this.commit('docker.io/library/debian:trixie-slim', node, 'docker.io/library/node:24-trixie-slim');
  }

  /** Builds a target of the Dockerfile. Returns the folder with its files, and its configuration. */
  build(target: string): { files: string; config: ImageConfig } {
    const npmrc = join(this.folder, 'npmrc');
    const authorities = process.env.NODE_EXTRA_CA_CERTS;
    writeFileSync(npmrc, authorities === undefined ? '' : 'cafile=/ca.pem\n');
    const mounts = [`${npmrc}:/root/.npmrc`, '/etc/resolv.conf:/etc/resolv.conf'];
    if (authorities !== undefined) mounts.push(`${authorities}:/ca.pem`);
    this.buildah(
      ...['build', '--quiet', '--isolation', 'chroot', '--pull-never', '--layers', '--format', 'docker'],
      ...mounts.flatMap((mount) => ['--volume', `${mount}:ro`]),
      ...['--target', target, '--tag', target, ROOT],
    );
    const { Docker } = JSON.parse(this.buildah('inspect', '--type', 'image', target)) as Inspected;
    return { files: this.buildah('mount', this.buildah('from', '--pull-never', target)), config: Docker.config };
  }

  remove(): void {
    this.buildah('umount', '--all');
    this.buildah('rm', '--all');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private commit(base: string, files: string, image: string): void {
    const container = this.buildah('from', '--pull-never', base);
    this.buildah('add', '--quiet', container, files, '/');
    this.buildah('commit', '--quiet', container, image);
    this.buildah('rm', container);
  }

  /** The files of a package of npm. */
  private unpacked(name: string): string {
    const folder = join(this.folder, name);
    if (existsSync(folder)) return join(folder, 'package');
    mkdirSync(folder, { recursive: true });
    const file = execFileSync('npm', ['pack', '--silent', name], { cwd: folder, encoding: 'utf8' }).trim();
    execFileSync('tar', ['-xzf', file], { cwd: folder });
    return join(folder, 'package');
  }

  private buildah(...args: string[]): string {
    const own = ['--root', join(this.folder, 'storage'), '--runroot', join(this.folder, 'run')];
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
    return execFileSync('buildah', [...own, ...args], { encoding: 'utf8', stdio, maxBuffer: 1 << 28 }).trim();
  }
}

interface Inspected {
  Docker: { config: ImageConfig };
}

/** The configuration of an image, as Docker names it. */
export interface ImageConfig {
  User: string;
  Env: string[];
  Cmd: string[];
  WorkingDir: string;
  Labels: Record<string, string>;
  Healthcheck: { Test: string[] };
  StopSignal: string;
}
