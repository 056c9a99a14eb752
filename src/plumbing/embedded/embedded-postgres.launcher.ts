import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Claim, makeClaim } from './claims.launcher';
import { clusterExists, createCluster, ROLE_NAME } from './cluster.launcher';
import { type ClusterPlace, findClusterPlace } from './cluster-place.launcher';
import { prepareDataFolder } from './data-folder.launcher';
import { ensureDatabase } from './database.launcher';
import { readOrCreateSecret } from './generated-secrets.launcher';
import { type PostgresBinaries, preparePostgresBinaries } from './postgres-binaries.launcher';
import { readServerLog } from './server-log.launcher';
import { findRunningServer, launchServer, type Server, stopServer, watchServer } from './postgres-server.launcher';
import { withStartLock } from './start-lock.launcher';

const DATABASE_NAME = 'webhook_service';

export interface EmbeddedPostgresOptions {
  dataDir: string;
  /** Tried before a random one: a server that is started again where the old one was gets its clients back. */
  port?: number;
  log?: (line: string) => void;
  /** Called at most once, with a sentence and the end of the server's log, when it ends without `stop`. */
  onExit?: (reason: string) => void;
}

export interface EmbeddedPostgres {
  /** Of the database "webhook_service", as a superuser. */
  readonly url: string;
  readonly port: number;
  /** Where the server keeps its files; usually inside the data folder. */
  readonly folder: string;
  /** Whether this process is the one to stop it, unless somebody else still needs it by then. */
  readonly owned: boolean;
  /** Sentences for the operator, about what is not where it was expected. */
  readonly notes: string[];
  stop(): Promise<void>;
}

/** For the service: starts the database of this data folder, or takes over one that outlived its service. */
export function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return open(options, (claim) => claim.isFirst);
}

/** For commands: uses the database that runs, which is never theirs, else starts one, which is. */
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

async function open(options: EmbeddedPostgresOptions, takesOver: (claim: Claim) => boolean): Promise<EmbeddedPostgres> {
  const dataDir = await prepareDataFolder(options.dataDir);
  const opened = await withStartLock(dataDir, async () => {
    const setup = await prepareSetup(dataDir);
    const { folder } = setup.place;
    const running = await findRunningServer(folder);
    const server = running ?? (await launch(setup, options.port));
    options.log?.(`PostgreSQL (pid ${server.pid}) ${running ? 'already runs' : 'started'} on port ${server.port}.`);
    const url = `postgres://${ROLE_NAME}:${setup.password}@127.0.0.1:${server.port}/${DATABASE_NAME}`;
    await ensureDatabase(url).catch(async (error) => {
      if (!running) await stopServer(server.pid, folder, setup.binaries.pgCtl);
      throw error;
    });
    const claim = await makeClaim(dataDir, running === null);
    return { ...setup, server, url, claim, owned: !running || takesOver(claim) };
  });
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

async function launch({ place, binaries, password, logFile }: Setup, port?: number): Promise<Server> {
  const { folder, user } = place;
  if (!(await clusterExists(folder))) await createCluster({ folder, user, initdb: binaries.initdb, password });
  return launchServer({ folder, user, postgres: binaries.postgres, logFile, port });
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
    // Where somebody has removed the data folder there is nothing left to lock.
    await ((await folderExists(dataDir)) ? withStartLock(dataDir, leave) : leave());
  };
  return {
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
