import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Chronicle } from '../../support/chronicle';
import { freePort, hasExited } from '../../support/service';
import { waitFor } from '../../support/wait-for';

/** A redis-server of one's own that is killed and started again on its port, with what it knew or without. */
export class ChaosRedis {
  private child: ChildProcess | null = null;
  // With a password no other server that took the port meanwhile can be mistaken for this one.
  private readonly password = randomBytes(16).toString('hex');
  private cameBack: () => void = () => undefined;

  private constructor(
    private readonly chronicle: Chronicle,
    readonly port: number,
    private readonly folder: string,
  ) {}

  static async start(chronicle: Chronicle): Promise<ChaosRedis> {
    const folder = await mkdtemp(join(tmpdir(), 'chaos-redis-'));
    const redis = new ChaosRedis(chronicle, await freePort(), folder);
    await redis.comeBack('with its data');
    return redis;
  }

  /** The url for whoever reaches it through this port: its own, or a proxy's. */
  urlThrough(port: number): string {
    return `redis://:${this.password}@127.0.0.1:${port}`;
  }

  get isDown(): boolean {
    return this.child === null;
  }

  async kill(): Promise<void> {
    if (!this.child) return;
    this.cameBack = this.chronicle.tear('Redis');
    const child = this.child;
    this.child = null;
    child.kill('SIGKILL');
    await waitFor(() => hasExited(child), { what: 'the end of redis-server', everyMs: 5 });
  }

  async comeBack(how: 'empty' | 'with its data'): Promise<void> {
    if (how === 'empty') await rm(join(this.folder, 'appendonlydir'), { recursive: true, force: true });
    const child = spawn('redis-server', this.options(), { stdio: 'ignore' });
    this.child = child;
    await waitFor(async () => hasExited(child) || (await this.command('PING')) === 'PONG', {
      what: 'Redis',
      everyMs: 5,
    });
    if (hasExited(child)) throw new Error(`redis-server ended with ${child.exitCode} instead of starting.`);
    this.cameBack();
  }

  /** Stops it in its tracks: connections stay, answers do not come. */
  freeze(): void {
    this.cameBack = this.chronicle.tear('Redis');
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
    this.cameBack();
  }

  /** Runs one command over a connection of its own. */
  async command(name: string, ...args: string[]): Promise<unknown> {
    const redis = new Redis(this.urlThrough(this.port), { lazyConnect: true, retryStrategy: () => null });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return await redis.call(name, ...args);
    } finally {
      redis.disconnect();
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private options(): string[] {
    const options = {
      bind: '127.0.0.1',
      port: String(this.port),
      requirepass: this.password,
      dir: this.folder,
      save: '',
      appendonly: 'yes',
      'maxmemory-policy': 'noeviction',
      'enable-debug-command': 'yes',
    };
    return Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  }
}
