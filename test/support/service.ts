import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Api } from './api';
import { cloneDatabase, type TestDatabase } from './postgres';
import { waitFor } from './wait-for';

/** Set by the environment of the tests, `environment.cjs`. */
declare const startInProcess: (
  settings: Settings,
  onLog: (line: string) => void,
) => Promise<{ url: string; stop(): Promise<void> }>;

/** The folder of the built service, when it is not `dist`. */
export const SERVICE_DIST = 'SERVICE_DIST';

/** The Node.js that runs the service, when it is not that of the tests. */
export const serviceNode = (): string => process.env.SERVICE_NODE ?? process.execPath;

/** Environment variables of a service; undefined means not set. */
export type Settings = Record<string, string | undefined>;

export interface Service {
  readonly url: string;
  readonly pid: number;
  /** The bootstrap token: user `admin`, all scopes. */
  readonly token: string;
  /** The API as `admin`. */
  readonly api: Api;
  readonly database: TestDatabase;
  /** Everything that the service has printed. */
  logs(): string;
  /** Makes an access token as `webhooks token create` does, without starting a process for it. */
  createToken(user: string, scopes: readonly string[]): Promise<string>;
  /** The API as another user, by default with the scopes of ordinary work. */
  apiFor(user: string, scopes?: readonly string[]): Promise<Api>;
  /** Ends the service with SIGTERM or the given signal, drops its database and returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Ends the service with SIGKILL and drops its database. */
  kill(): Promise<void>;
}

export interface Finished {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** Every process that was started and has not been seen to end. */
const children = new Set<ChildProcess>();

// globalSetup reads this file too, outside of all tests.
if (typeof afterAll === 'function') {
  // Processes that a test did not stop because it timed out end with the test file.
  afterAll(() => Promise.all([...children].map((child) => endProcess(child, 'SIGKILL'))));
}

const ORDINARY_SCOPES = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];

/**
 * One service for all tests of the file or describe block; it must end cleanly afterwards. It runs in the process of the
 * tests, which must not block it: a program that talks to it is awaited.
 */
export function useService(settings: Settings | (() => Settings) = {}): Service {
  return use((wanted) => (needsProcess(wanted) ? startService(wanted) : startInThisProcess(wanted)), settings);
}

/** Whether the settings include variables of Node.js or the system, which only a new process reads. */
function needsProcess(settings: Settings): boolean {
  return serviceNode() !== process.execPath || Object.keys(settings).some((name) => /^(NODE_|LD_|TZ$)/.test(name));
}

/** The same as a process of its own. */
export function useServiceProcess(settings: Settings | (() => Settings) = {}): Service {
  return use(startService, settings);
}

function use(start: (settings: Settings) => Promise<Service>, settings: Settings | (() => Settings)): Service {
  let service: Service | undefined;
  beforeAll(async () => {
    service = await start(typeof settings === 'function' ? settings() : settings);
  });
  afterAll(async () => {
    if (service) expect(await service.stop()).toBe(0);
  });
  return new Proxy({} as Service, {
    get: (_, property: keyof Service) => {
      if (!service) throw new Error('The service runs only while tests do.');
      return service[property];
    },
  });
}

/**
 * Starts the built service as a process of its own and waits until it is ready. It gets a database of its own, which
 * is dropped with it, unless one is given, which is kept.
 */
export async function startService(overrides: Settings = {}, given?: TestDatabase): Promise<Service> {
  const database = given ?? (await cloneDatabase());
  const dropDatabase = async () => (given ? undefined : database.drop());
  const token = newToken();
  try {
    const { url, child, logs } = await startOnFreePort(
      { ...defaultSettings(database.url, token), ...overrides },
      token,
    );
    return {
      ...accessTo(url, token, database),
      pid: child.pid ?? 0,
      logs,
      stop: async (signal = 'SIGTERM') => {
        const exitCode = await endProcess(child, signal);
        await dropDatabase();
        return exitCode;
      },
      kill: async () => {
        await endProcess(child, 'SIGKILL');
        await dropDatabase();
      },
    };
  } catch (error) {
    await dropDatabase();
    throw error;
  }
}

/** Starts the built service in this process, with a database of its own. */
async function startInThisProcess(overrides: Settings): Promise<Service> {
  const database = await cloneDatabase();
  const token = newToken();
  let log = '';
  try {
    const settings = { ...defaultSettings(database.url, token), PORT: '0', ...overrides };
    const { url, stop } = await startInProcess(settings, (line) => (log += line));
    await waitFor(() => isReady(url, token), { what: 'a service that is ready' });
    return {
      ...accessTo(url, token, database),
      pid: process.pid,
      logs: () => log,
      stop: async () => {
        await stop();
        await database.drop();
        return 0;
      },
      kill: () => Promise.reject(new Error('Only a process can be killed: use startService or useServiceProcess.')),
    };
  } catch (error) {
    await database.drop();
    throw error;
  }
}

function accessTo(
  url: string,
  token: string,
  database: TestDatabase,
): Pick<Service, 'url' | 'token' | 'api' | 'database' | 'createToken' | 'apiFor'> {
  const api = new Api(url, token);
  const createToken = (user: string, scopes: readonly string[]) => insertToken(database, user, scopes);
  const apiFor = async (user: string, scopes: readonly string[] = ORDINARY_SCOPES) =>
    api.withToken(await createToken(user, scopes));
  return { url, token, api, database, createToken, apiFor };
}

const newToken = () => `wns_${randomBytes(32).toString('base64url')}`;

/** The `webhooks` program. */
export const WEBHOOKS = 'src/commands/webhooks.command.js';

/** Runs a file of the built service until it ends by itself, with these environment variables and no others. */
export async function runServiceFile(file: string, args: readonly string[], settings: Settings): Promise<Finished> {
  const child = spawnNode(file, args, settings);
  const [stdout, stderr] = [capture(child, ['stdout']), capture(child, ['stderr'])];
  try {
    await waitFor(() => hasExited(child), { what: `the end of ${file}` });
  } finally {
    await endProcess(child, 'SIGKILL');
  }
  return { exitCode: child.exitCode, stdout: stdout(), stderr: stderr() };
}

/** Runs a command of the `webhooks` program until it ends, with these environment variables and no others. */
export function runCommand(words: readonly string[], settings: Settings): Promise<Finished> {
  return runServiceFile(WEBHOOKS, words, settings);
}

/** The path of a file of the built service. */
export function serviceFile(file: string): string {
  return join(process.env[SERVICE_DIST] ?? 'dist', file);
}

/** The services of one database need the same key, and those of one test file may share a database. */
const SECRETS_KEY = randomBytes(32).toString('base64');

/** Settings with which a service starts: deliveries may reach this machine, and retries are quick. */
export function defaultSettings(databaseUrl: string, token: string): Settings {
  return {
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '4',
    SECRETS_KEY,
    BOOTSTRAP_TOKEN: token,
    ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
    RETRY_BASE_DELAY_MS: '50',
    RETRY_FACTOR: '2',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'info',
  };
}

/**
 * Returns a port of 127.0.0.1 that was free a moment ago. It is below the ephemeral ports of outgoing connections, so
 * none of these takes it, even while its listener is down, and no other call in this process returns it soon.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort;
    nextPort = port < PORTS.last ? port + 1 : PORTS.first;
    if (await isFree(port)) return port;
  }
}

/** Whether this port of 127.0.0.1 is free. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** The ports 10,000 above must be free, too: a node of a Redis cluster has its bus port there. */
const PORTS = { first: 10_240, last: 22_767 };
let nextPort = randomInt(PORTS.first, PORTS.last);

export function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

interface Running {
  url: string;
  child: ChildProcess;
  logs: () => string;
}

async function startOnFreePort(settings: Settings, token: string, triesLeft = 5): Promise<Running> {
  const port = settings.PORT ?? String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const child = spawnNode('src/main.js', [], { ...settings, PORT: port });
  const logs = capture(child, ['stdout', 'stderr']);
  try {
    const what = `a service that is ready on port ${port}`;
    await waitFor(async () => hasExited(child) || (await isReady(url, token)), { what });
  } catch (error) {
    await endProcess(child, 'SIGKILL');
    throw new Error(`The service did not get ready. It printed:\n${logs()}`, { cause: error });
  }
  if (!hasExited(child)) return { url, child, logs };
  if (triesLeft > 1 && !settings.PORT && /EADDRINUSE|in use/i.test(logs())) {
    return startOnFreePort(settings, token, triesLeft - 1);
  }
  throw new Error(`The service ended with exit code ${child.exitCode} instead of starting. It printed:\n${logs()}`);
}

/** Ready, and ours: another process may have taken the port. */
async function isReady(url: string, token: string): Promise<boolean> {
  const ready = await fetch(`${url}/health/ready`);
  await ready.arrayBuffer();
  return ready.status === 200 && (await new Api(url, token).me()).status === 200;
}

async function insertToken(database: TestDatabase, user: string, scopes: readonly string[]): Promise<string> {
  const token = newToken();
  await database.query(
    `insert into webhook_service.access_tokens (id, user_id, name, token_hash, scopes)
     values (gen_random_uuid(), $1, 'a test', sha256($2::bytea), $3)`,
    [user, token, scopes],
  );
  return token;
}

export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (!hasExited(child)) child.kill(signal);
  try {
    await waitFor(() => hasExited(child), { what: `the end of the process after ${signal}` });
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return child.exitCode;
}

export function capture(child: ChildProcess, streams: readonly ('stdout' | 'stderr')[]): () => string {
  let text = '';
  for (const stream of streams) child[stream]?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return () => text;
}

/** Starts a file of the service with the given settings only, so that a developer's own do not affect the tests. */
export function spawnNode(file: string, args: readonly string[], settings: Settings): ChildProcess {
  return spawnFile(serviceFile(file), args, settings);
}

/** The same for a program that is not the service. */
export function spawnFile(path: string, args: readonly string[], settings: Settings): ChildProcess {
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(serviceNode(), [path, ...args], {
    env: { PATH, HOME, TMPDIR, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  child.once('close', () => children.delete(child));
  return child;
}
