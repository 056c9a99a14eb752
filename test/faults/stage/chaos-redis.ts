import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Chronicle } from '../../support/chronicle';
import type { TcpProxy } from '../../support/proxy';
import { callRedis } from '../../support/redis';
import { freePort, hasExited } from '../../support/service';
import { waitFor } from '../../support/wait-for';

/** A redis-server of one's own that is killed and started again on its port, with what it knew or without. */
export class ChaosRedis {
  private child: ChildProcess | null = null;
  // With a password no other server that took the port meanwhile can be mistaken for this one.
  private readonly password = randomBytes(16).toString('hex');
  private cameBack: () => void = () => undefined;
  /** What ends the servers that lost their address. */
  private readonly former: (() => Promise<void>)[] = [];

  private constructor(
    private readonly chronicle: Chronicle,
    private ownPort: number,
    private folder: string,
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

  get port(): number {
    return this.ownPort;
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

  /**
   * Moves the address to a replica, which is promoted. The former primary lives on as a replica, with its open connections.
   */
  async failOver(address: TcpProxy): Promise<void> {
    const { port, folder, child } = this;
    const askFormer = (...command: string[]) => this.ask(port, command);
    this.folder = await mkdtemp(join(tmpdir(), 'chaos-redis-'));
    this.ownPort = await freePort();
    await this.comeBack('empty');
    await this.command('REPLICAOF', '127.0.0.1', String(port));
    const isInSync = async () => String(await this.command('INFO', 'replication')).includes('master_link_status:up');
    await waitFor(isInSync, { what: 'a replica in sync' });
    await this.command('REPLICAOF', 'NO', 'ONE');
    await askFormer('REPLICAOF', '127.0.0.1', String(this.port));
    address.retarget(this.port);
    this.former.push(async () => {
      child?.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    });
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
  command(name: string, ...args: string[]): Promise<unknown> {
    return this.ask(this.port, [name, ...args]);
  }

  private ask(port: number, [name = '', ...args]: readonly string[]): Promise<unknown> {
    return callRedis(this.urlThrough(port), name, args);
  }

  async stop(): Promise<void> {
    await this.kill();
    for (const end of this.former) await end();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private options(): string[] {
    const options = {
      bind: '127.0.0.1',
      port: String(this.port),
      requirepass: this.password,
      masterauth: this.password,
      'repl-diskless-sync-delay': '0',
      dir: this.folder,
      save: '',
      appendonly: 'yes',
      'maxmemory-policy': 'noeviction',
      'enable-debug-command': 'yes',
    };
    return Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  }
}
