import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { letsIn } from './redis';
import { freePort, hasExited, isFree } from './service';
import { waitFor } from './wait-for';

export interface TestCluster {
  /** All nodes in the format of `REDIS_URL`. */
  readonly url: string;
  readonly password: string;
  readonly nodes: readonly ClusterNode[];
  /** Resolves when every node reports that the cluster works. */
  works(): Promise<void>;
  stop(): Promise<void>;
}

const NODES = 3;
const SLOTS = 16_384;
/** The distance of a node's bus port from its port. */
const BUS = 10_000;
const HIGHEST_PORT = 65_535;

/** One of the processes of a cluster. Its data is only in memory; it knows its slots from a file. */
export class ClusterNode {
  private child: ChildProcess | null = null;

  constructor(
    readonly port: number,
    private readonly password: string,
    private readonly folder: string,
  ) {}

  /** Returns false when the process ended at once because another one had taken a port. */
  async start(): Promise<boolean> {
    if (this.child && !hasExited(this.child)) return true;
    const child = spawn('redis-server', this.options(), { stdio: 'ignore' });
    this.child = child;
    await waitFor(async () => hasExited(child) || (await letsIn(this.port, this.password)), {
      what: `the node on port ${this.port}`,
    });
    return !hasExited(child);
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (!child) return;
    child.kill('SIGKILL');
    await waitFor(() => hasExited(child), { what: 'the end of redis-server' });
  }

  /** Runs a command on this node alone. */
  async run(...[command, ...args]: [string, ...(string | number)[]]): Promise<unknown> {
    const redis = new Redis(this.port, '127.0.0.1', { password: this.password, retryStrategy: () => null });
    redis.on('error', () => undefined);
    try {
      return await redis.call(command, ...args);
    } finally {
      redis.disconnect();
    }
  }

  async works(): Promise<boolean> {
    const info = String(await this.run('CLUSTER', 'INFO'));
    return info.includes('cluster_state:ok') && info.includes(`cluster_size:${NODES}`);
  }

  private options(): string[] {
    const options = {
      port: this.port,
      requirepass: this.password,
      dir: this.folder,
      bind: '127.0.0.1',
      save: '',
      appendonly: 'no',
      'maxmemory-policy': 'noeviction',
      'cluster-enabled': 'yes',
      'cluster-config-file': `nodes-${this.port}.conf`,
      // How long a node may be silent before the others consider it, and the cluster, down.
      'cluster-node-timeout': 4000,
    };
    return Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  }
}

/** Three masters on free ports, which share the slots evenly. */
export async function startCluster(triesLeft = 5): Promise<TestCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-service-cluster-'));
  const password = randomBytes(16).toString('hex');
  const nodes: ClusterNode[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.kill()));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const works = async () => {
    const all = async () => (await Promise.all(nodes.map((node) => node.works()))).every(Boolean);
    await waitFor(all, { what: 'a cluster that works', everyMs: 100 });
  };
  try {
    for (let i = 0; i < NODES; i++) nodes.push(new ClusterNode(await freePortPair(), password, folder));
    const started = await Promise.all(nodes.map((node) => node.start()));
    if (started.every(Boolean)) {
      await joinAll(nodes);
      await works();
      const url = nodes.map(({ port }) => `redis://:${password}@127.0.0.1:${port}`).join(',');
      return { url, password, nodes, works, stop };
    }
  } catch (error) {
    await stop();
    throw error;
  }
  await stop();
  if (triesLeft > 1) return startCluster(triesLeft - 1);
  throw new Error('redis-server ends as soon as it is started as a node of a cluster.');
}

async function joinAll(nodes: readonly ClusterNode[]): Promise<void> {
  const share = Math.ceil(SLOTS / nodes.length);
  for (const [i, node] of nodes.entries()) {
    const own = Array.from({ length: Math.min(share, SLOTS - i * share) }, (_, slot) => i * share + slot);
    await node.run('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    await node.run('CLUSTER', 'ADDSLOTS', ...own);
    if (i > 0) await node.run('CLUSTER', 'MEET', '127.0.0.1', nodes[0]!.port);
  }
}

/** A port of 127.0.0.1 that was free a moment ago, and so was the one of the cluster's bus. */
async function freePortPair(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port + BUS <= HIGHEST_PORT && (await isFree(port + BUS))) return port;
  }
}
