import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { identifyingArguments, isAlive, isServerOf } from './postgres-process';
import { parsePostmasterFile, withoutLivingPid } from './postmaster-file';
import { openServerLog, readServerLog } from './server-log';
import { SERVER_SETTINGS } from './server-settings';
import type { SystemUser } from './postgres-user';
import { asSpawnOptions } from './system-user';

const run = promisify(execFile);
const POLL_MS = 10;
const ORPHANS_POLL_MS = 250;
const LAUNCH_ATTEMPTS = 20;
const WATCH_MS = 500;
const UNSETTLED_DEADLINE_MS = 5 * 60_000;
const QUIT_AFTER_MS = 20_000;
const KILL_AFTER_MS = 25_000;

export interface ServerPlan {
  folder: string;
  postgres: string;
  logFile: string;
  user?: SystemUser;
  port?: number;
  environment?: Readonly<Record<string, string>>;
  /** Ends the wait for the server, and the server. */
  signal?: AbortSignal;
}

export interface Server {
  pid: number;
  port: number;
}

/**
 * Returns the server that is already running on this folder, or null. Waits at most five minutes while a server starts
 * or stops.
 * @throws Error with a readable message when the server is still starting or stopping after that
 */
export async function findRunningServer(folder: string, signal?: AbortSignal): Promise<Server | null> {
  const path = join(folder, 'postmaster.pid');
  const deadline = Date.now() + UNSETTLED_DEADLINE_MS;
  for (;;) {
    const text = await readFile(path, 'utf8').catch(() => '');
    const file = parsePostmasterFile(text);
    if (!file) return null;
    if (!(await isServerOf(file.pid, folder))) {
      // Another process has the pid of our dead server now. PostgreSQL would mistake it for that server.
      if (isAlive(file.pid)) await writeFile(path, withoutLivingPid(text));
      return null;
    }
    if (file.status === 'ready') return { pid: file.pid, port: file.port };
    if (Date.now() > deadline) throw new Error(`PostgreSQL (pid ${file.pid}) in ${folder} stays ${file.status}`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

/**
 * Starts a server on `plan.port`, or on another port when that one is not free. Resolves once it accepts connections.
 * @throws Error with the end of the server's log when it does not start
 */
export async function launchServer(plan: ServerPlan): Promise<Server> {
  let port = plan.port ?? (await findFreePort());
  for (let attempt = 1; ; attempt++) {
    const result = await launchOnce(plan, port);
    if (typeof result !== 'string') return result;
    // A server whose starter was killed meanwhile may have come first.
    const rival = /postmaster\.pid" already exists/.test(result)
      ? await findRunningServer(plan.folder, plan.signal)
      : null;
    if (rival) return rival;
    const isPortTaken = /could not bind|could not create any TCP/.test(result);
    // The children of a killed server take a moment to notice that it is gone.
    const hasOrphans = /pre-existing shared memory block/.test(result);
    if (attempt === LAUNCH_ATTEMPTS || !(isPortTaken || hasOrphans)) {
      throw new Error(`PostgreSQL did not start in ${plan.folder}: ${result}`);
    }
    if (isPortTaken) port = await findFreePort();
    else await sleep(ORPHANS_POLL_MS, undefined, { signal: plan.signal });
  }
}

/** Returns the server, or a text that says why it did not start. */
async function launchOnce(plan: ServerPlan, port: number): Promise<Server | string> {
  const settings = Object.entries({ ...SERVER_SETTINGS, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { file: log, startsAt } = await openServerLog(plan.logFile);
  try {
    const child = spawn(plan.postgres, [...identifyingArguments(plan.folder), ...settings], {
      // The server has its own session, so that Ctrl-C in this terminal does not reach it.
      detached: true,
      windowsHide: true,
      stdio: ['ignore', log.fd, log.fd],
      cwd: '/',
      // Not this process's environment: it may contain secrets, and PostgreSQL's user could read them.
      env: { ...plan.environment, LC_ALL: 'C' },
      ...asSpawnOptions(plan.user),
    });
    const end = await waitUntilReady(child, plan);
    if (end !== null) return `${end}\n${await readServerLog(plan.logFile, startsAt)}`;
    child.unref();
    return { pid: child.pid!, port };
  } finally {
    await log.close();
  }
}

/**
 * Returns null when the server is ready, otherwise how it ended.
 * @throws Error after five minutes: the server goes on, and a later start finds it. On a signal it is stopped.
 */
async function waitUntilReady(child: ChildProcess, { folder, signal }: ServerPlan): Promise<string | null> {
  let end: string | null = null;
  child.once('error', (error) => (end = error.message));
  child.once('exit', (code, signal) => (end = `it ended with ${signal ?? `code ${code}`}`));
  const deadline = Date.now() + UNSETTLED_DEADLINE_MS;
  while (end === null) {
    if (signal?.aborted) child.kill('SIGINT');
    else if (Date.now() > deadline) throw new Error(stillStarting(child.pid, folder));
    const file = parsePostmasterFile(await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => ''));
    if (file?.pid === child.pid && file?.status === 'ready') return null;
    await sleep(POLL_MS);
  }
  return end;
}

const stillStarting = (pid: number | undefined, folder: string): string =>
  `PostgreSQL (pid ${pid}) in ${folder} has been starting for five minutes, and goes on. It may be recovering from a crash: ` +
  'see postgres.log in the data folder, and start the service again.';

async function findFreePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/**
 * Stops the server with a fast shutdown: open transactions are rolled back, committed ones are kept. Sends SIGQUIT
 * after 20 s and SIGKILL after 25 s. Resolves when the server is gone.
 */
export async function stopServer(pid: number, folder: string, pgCtl: string): Promise<void> {
  if (!(await isServerOf(pid, folder))) return;
  const startedAt = Date.now();
  const harsher: [number, NodeJS.Signals][] = [
    [QUIT_AFTER_MS, 'SIGQUIT'],
    [KILL_AFTER_MS, 'SIGKILL'],
  ];
  await requestShutdown(pid, folder, pgCtl);
  while (await isServerOf(pid, folder)) {
    const [afterMs, signal] = harsher[0] ?? [Infinity, 'SIGKILL'];
    if (Date.now() - startedAt > afterMs) {
      harsher.shift();
      sendSignal(pid, signal);
    }
    await sleep(POLL_MS);
  }
}

async function requestShutdown(pid: number, folder: string, pgCtl: string): Promise<void> {
  if (process.platform !== 'win32') return sendSignal(pid, 'SIGINT');
  // On Windows, Node's signals only kill. pg_ctl can stop the server there.
  await run(pgCtl, ['stop', '-D', folder, '-m', 'fast', '--no-wait']).catch(() => undefined);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Calls `onExit` once when the server is gone. Returns a function that stops watching. */
export function watchServer(pid: number, folder: string, onExit: () => void): () => void {
  let isWatching = true;
  const look = async () => {
    if ((await isServerOf(pid, folder)) || !isWatching) return;
    stopWatching();
    onExit();
  };
  const stopWatching = () => {
    isWatching = false;
    clearInterval(timer);
  };
  const timer = setInterval(() => void look(), WATCH_MS);
  timer.unref();
  return stopWatching;
}
