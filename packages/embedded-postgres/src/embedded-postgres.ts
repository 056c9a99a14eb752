import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Claim, makeClaim } from './claims';
import { clusterExists, createCluster, ROLE_NAME } from './cluster';
import { type ClusterPlace, findClusterPlace } from './cluster-place';
import { prepareDataFolder } from './data-folder';
import { ensureDatabase } from './database';
import { readOrCreateSecret } from './generated-secrets';
import { type PostgresBinaries, preparePostgresBinaries } from './postgres-binaries';
import { readServerLog } from './server-log';
import { findRunningServer, launchServer, type Server, stopServer, watchServer } from './postgres-server';
import { withStartLock } from './start-lock';

export { readOrCreateSecret } from './generated-secrets';
export { lockForService, type ServiceLock } from './service-lock';

const DATABASE_NAME = 'webhook_service';
const DISK_FULL = ['ENOSPC', 'EDQUOT'];

export interface EmbeddedPostgresOptions {
  dataDir: string;
  /** Tried before a random port, so that clients of a restarted server find it again on its old port. */
  port?: number;
  /** Environment of the server, which gets nothing else from this process; for a diagnosis, such as `MALLOC_PERTURB_`. */
  environment?: Readonly<Record<string, string>>;
  log?: (line: string) => void;
  /** Ends a start that has not finished, and the server that it has launched. */
  signal?: AbortSignal;
  /** Called at most once, when the server ends without `stop`, with a message and the end of the server's log. */
  onExit?: (reason: string) => void;
}

export interface EmbeddedPostgres {
  /** The real path of the data folder, which exists from now on. */
  readonly dataDir: string;
  /** The url of the database "webhook_service", as superuser. */
  readonly url: string;
  readonly port: number;
  /** The folder of the server's files, usually inside the data folder. */
  readonly folder: string;
  /** True when this process must stop the server, unless another process still needs it then. */
  readonly owned: boolean;
  /** Messages for the operator about files that are not in the expected place. */
  readonly notes: string[];
  /** Ends this use of the server. Its owner also stops the server when no other process needs it. May be called again. */
  stop(): Promise<void>;
}

/**
 * For the service: starts the database of this data folder, or takes over one that has outlived its service.
 * @throws Error with a readable message when the database cannot be started
 */
export function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return open(options, (claim) => claim.isFirst);
}

/** For commands: uses the database without owning it when it is already running; otherwise starts and owns it. */
export function attachEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return open(options, () => false);
}

interface Setup {
  dataDir: string;
  logFile: string;
  place: ClusterPlace;
  binaries: PostgresBinaries;
  password: string;
}

interface Opened extends Setup {
  server: Server;
  url: string;
  claim: Claim;
  owned: boolean;
}

/*
 * Three locks, because they differ in duration and in the processes that they exclude:
 * - The start lock, a file: no two processes start or stop the server at the same moment. It is held for about a second,
 *   and works while no server is running.
 * - A claim, a file for each process that uses the server: the last one to leave stops it. A command may have started the
 *   server that a service now uses.
 * - The service lock, an advisory lock of PostgreSQL (service-lock.ts): only one service runs on the data, while
 *   commands may run at the same time. PostgreSQL releases it when its holder dies.
 */
async function open(options: EmbeddedPostgresOptions, takesOver: (claim: Claim) => boolean): Promise<EmbeddedPostgres> {
  const dataDir = await prepareDataFolder(options.dataDir);
  const start = async (): Promise<Opened> => {
    const setup = await prepareSetup(dataDir);
    const { folder } = setup.place;
    const running = await findRunningServer(folder, options.signal);
    const server = running ?? (await launch(setup, options));
    options.log?.(`PostgreSQL (pid ${server.pid}) ${running ? 'already runs' : 'started'} on port ${server.port}.`);
    const url = `postgres://${ROLE_NAME}:${setup.password}@127.0.0.1:${server.port}/${DATABASE_NAME}`;
    await ensureDatabase(url, options.signal).catch(async (error) => {
      if (!running) await stopServer(server.pid, folder, setup.binaries.pgCtl);
      throw error;
    });
    const claim = await makeClaim(dataDir, running === null);
    return { ...setup, server, url, claim, owned: !running || takesOver(claim) };
  };
  const opened = await withStartLock(dataDir, start, options.signal);
  return handleOf(opened, options.onExit);
}

async function prepareSetup(dataDir: string): Promise<Setup> {
  const place = await findClusterPlace(dataDir);
  const hasCluster = await clusterExists(place.folder);
  const { value: password } = await readOrCreateSecret(dataDir, 'postgres.password', () => {
    if (!hasCluster) return randomBytes(32).toString('base64url');
    throw new Error(`The database in ${place.folder} has lost its password: restore postgres.password in ${dataDir}.`);
  });
  const binaries = await preparePostgresBinaries(dataDir, place.user);
  return { dataDir, logFile: join(dataDir, 'postgres.log'), place, binaries, password };
}

async function launch(
  { place, binaries, password, logFile }: Setup,
  { port, environment, signal }: EmbeddedPostgresOptions,
): Promise<Server> {
  const { folder, user } = place;
  if (!(await clusterExists(folder))) await createCluster({ folder, user, initdb: binaries.initdb, password });
  return launchServer({ folder, user, postgres: binaries.postgres, logFile, port, environment, signal });
}

function handleOf(opened: Opened, onExit?: (reason: string) => void): EmbeddedPostgres {
  const { dataDir, logFile, place, binaries, server, url, owned } = opened;
  const { pid, port } = server;
  const stopWatching = onExit && watchServer(pid, place.folder, () => void tellWhy(pid, logFile, onExit));
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    stopWatching?.();
    const leave = async () => {
      if (await opened.claim.leave(owned)) await stopServer(pid, place.folder, binaries.pgCtl);
    };
    // When the data folder was removed, there is nothing left to lock.
    if (!(await folderExists(dataDir))) return leave();
    await withStartLock(dataDir, leave).catch((error: NodeJS.ErrnoException) => {
      // On a full disk no other process can acquire the lock either, and the server must not be left running.
      if (!DISK_FULL.includes(error.code ?? '')) throw error;
      return leave();
    });
  };
  return {
    dataDir,
    url,
    port,
    folder: place.folder,
    owned,
    notes: [...binaries.notes, ...place.notes],
    stop: () => (stopped ??= stop()),
  };
}

async function folderExists(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => true,
    () => false,
  );
}

async function tellWhy(pid: number, logFile: string, onExit: (reason: string) => void): Promise<void> {
  onExit(`PostgreSQL (pid ${pid}) has ended by itself:\n${await readServerLog(logFile)}`);
}
