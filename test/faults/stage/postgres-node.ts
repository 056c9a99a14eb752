import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import {
  initOrdinaryData,
  ordinaryFolder,
  ordinaryProgram,
  serveOrdinaryData,
} from '../../../scripts/ordinary-postgres.cjs';
import { capture, freePort, hasExited } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import type { StageDatabase } from './stage-database';

/** Programs that copy a small database, on a busy machine. */
const ENDS_WITHIN_MS = 120_000;

/** A PostgreSQL with its own defaults, which is copied, killed and promoted as an operator's servers are. */
export class PostgresNode implements StageDatabase {
  private constructor(
    private readonly folder: string,
    private readonly child: ChildProcess,
    private readonly password: string,
    readonly port: number,
  ) {}

  /** Starts a server with an empty cluster. */
  static async start(password?: string): Promise<PostgresNode> {
    const folder = ordinaryFolder();
    return PostgresNode.serve(folder, () => initOrdinaryData(join(folder, 'data'), password));
  }

  private static async serve(folder: string, prepare: () => string): Promise<PostgresNode> {
    try {
      const [password, port] = [prepare(), await freePort()];
      return new PostgresNode(folder, await serveOrdinaryData(join(folder, 'data'), port), password, port);
    } catch (error) {
      await remove(folder);
      throw error;
    }
  }

  urlThrough(port: number): string {
    return `postgres://postgres:${this.password}@127.0.0.1:${port}/postgres`;
  }

  get url(): string {
    return this.urlThrough(this.port);
  }

  async query<Row extends QueryResultRow>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const client = new Client({ connectionString: this.url });
    client.on('error', () => undefined);
    await client.connect();
    return client
      .query<Row>(sql, parameters)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  }

  /** Copies its files with pg_basebackup while it runs. */
  async baseBackup(...more: string[]): Promise<BaseBackup> {
    const folder = ordinaryFolder();
    const from = ['-d', `${this.url}?application_name=standby`, '-D', join(folder, 'data')];
    const printed = await run('pg_basebackup', [...from, '-X', 'stream', '-c', 'fast', '-v', ...more]);
    const [, endLsn = ''] = /write-ahead log end point: (\S+)/.exec(printed) ?? [];
    return { start: () => PostgresNode.serve(folder, () => this.password), endLsn };
  }

  /** Dumps its database with pg_dump while it runs. */
  async dump(): Promise<Backup> {
    const folder = ordinaryFolder();
    const file = join(folder, 'dump');
    await run('pg_dump', ['-d', this.url, '-Fc', '-f', file]);
    const start = async () => {
      const node = await PostgresNode.start(this.password);
      await run('pg_restore', ['-d', node.url, '--exit-on-error', file]);
      await remove(folder);
      return node;
    };
    return { start };
  }

  /** Kills all of its processes at once, as when its machine dies. */
  async kill(): Promise<void> {
    const { pid } = this.child;
    if (!pid || hasExited(this.child)) return;
    this.child.kill('SIGSTOP');
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    for (const each of [...children.trim().split(' ').map(Number), pid]) if (each) killIfThere(each);
    await waitFor(() => hasExited(this.child), { what: 'the end of PostgreSQL', everyMs: 5 });
  }

  async stop(): Promise<void> {
    await this.kill();
    await remove(this.folder);
  }
}

export interface Backup {
  /** Starts a server with it. */
  start(): Promise<PostgresNode>;
}

export interface BaseBackup extends Backup {
  /** The position in the write-ahead log up to which it has everything. */
  readonly endLsn: string;
}

/** Runs a program of PostgreSQL until it ends. Returns all that it printed. */
async function run(name: string, args: readonly string[]): Promise<string> {
  const { program, options } = ordinaryProgram(name);
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = capture(child, ['stdout', 'stderr']);
  await once(child, 'close', { signal: AbortSignal.timeout(ENDS_WITHIN_MS) });
  if (child.exitCode !== 0) throw new Error(`${name} ended with ${child.exitCode}:\n${printed()}`);
  return printed();
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

const remove = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 5 });
