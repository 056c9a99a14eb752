import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { administrate, cloneDatabase, databaseUrl } from '../../support/postgres';
import { startRedis } from '../../support/redis';
import {
  defaultSettings,
  endProcess,
  freePort,
  capture,
  runCommand,
  runServiceFile,
  type Settings,
  spawnNode,
} from '../../support/service';
import { waitFor } from '../../support/wait-for';

const NAME = `wrong_${randomBytes(4).toString('hex')}`;
const ROLE = `${NAME}_app`;

/** The url of a database for a role without the right to create schemas. */
function urlOf(name: string, password = 'right'): string {
  const url = new URL(databaseUrl(name));
  [url.username, url.password] = [ROLE, password];
  return url.href;
}

const settingsFor = (url: string): Settings => ({ ...defaultSettings(url, ''), PORT: '0' });
const start = (url: string) => runServiceFile('src/main.js', [], settingsFor(url));

beforeAll(async () => {
  await administrate(`create role ${ROLE} login password 'right'`);
  await administrate(`create database ${NAME} encoding 'UTF8' template template0`);
});
afterAll(async () => {
  await administrate(`drop database if exists ${NAME} with (force)`);
  await administrate(`drop role ${ROLE}`);
});

describe('A start on a database that does not fit', () => {
  it('ends with a sentence, without a stack or a password', async () => {
    const { exitCode, stdout, stderr } = await start(urlOf(NAME, 'canary'));
    expect(stderr).toMatch(
      /^The database of DATABASE_URL cannot be used: .* Check user and password of DATABASE_URL.*\n$/,
    );
    expect(stdout + stderr).not.toMatch(/canary|^\s+at /m);
    expect(exitCode).toBe(1);
  });
});

describe('A start on schemas that an administrator has created', () => {
  it('needs no right to create schemas, becomes ready, and says how to get in', async () => {
    const client = new Client({ connectionString: databaseUrl(NAME) });
    await client.connect();
    for (const schema of ['webhook_service', 'webhook_service_queue'])
      await client.query(`create schema ${schema} authorization ${ROLE}`);
    await client.end();
    const port = await freePort();
    const child = spawnNode('src/main.js', [], { ...settingsFor(urlOf(NAME)), PORT: String(port) });
    const printed = capture(child, ['stdout']);
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/health/ready`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await waitFor(isReady, { what: 'readiness' });
    await waitFor(() => printed().includes('Health'), { what: 'the welcome' });
    expect(printed()).toContain('No access token exists yet. Create the first one: npx webhooks token create');
    const { exitCode } = await runCommand(
      ['token', 'create', '--user', 'admin', '--scopes', 'all'],
      settingsFor(urlOf(NAME)),
    );
    expect(exitCode).toBe(0);
    const other = await freePort();
    const onRedis = spawnNode('src/main.js', [], {
      ...settingsFor(urlOf(NAME)),
      PORT: String(other),
      REDIS_URL: 'redis://127.0.0.1:1',
      LOG_LEVEL: 'info',
    });
    const [here, there] = [capture(child, ['stdout', 'stderr']), capture(onRedis, ['stdout', 'stderr'])];
    await waitFor(() => there().includes('Another process has its queues on PostgreSQL, and this one on Redis'), {
      what: 'the warning of one',
    });
    await waitFor(() => here().includes('Another process has its queues on Redis, and this one on PostgreSQL'), {
      what: 'the warning of the other',
    });
    expect(there()).not.toContain('No access token');
    expect(await Promise.all([endProcess(child, 'SIGTERM'), endProcess(onRedis, 'SIGTERM')])).toEqual([0, 0]);
  });
});

describe('A Redis that evicts keys, and then ends', () => {
  it('is told in lines of the log, as what libraries print', async () => {
    const database = await cloneDatabase();
    const redis = await startRedis({ 'maxmemory-policy': 'allkeys-lru' });
    const child = spawnNode('src/main.js', [], {
      ...settingsFor(database.url),
      REDIS_URL: redis.url,
      LOG_LEVEL: 'info',
    });
    const [printed, errors] = [capture(child, ['stdout']), capture(child, ['stderr'])];
    const linesWith = (text: string) =>
      printed()
        .split('\n')
        .filter((line) => line.includes(text));
    await waitFor(() => linesWith('Health')[0], { what: 'the welcome' });
    await waitFor(() => linesWith('Eviction policy is allkeys-lru')[0], { what: 'the warning of BullMQ' });
    await redis.stop();
    await waitFor(() => linesWith('ECONNREFUSED')[0], { what: 'the errors of ioredis' });
    expect(await endProcess(child, 'SIGTERM')).toBe(0);
    for (const text of ['Eviction policy', 'ECONNREFUSED', 'ECONNRESET'])
      for (const line of linesWith(text)) expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number) });
    expect(JSON.parse(linesWith('Eviction policy')[0]!)).toMatchObject({ level: 40, context: 'Library' });
    expect(errors()).toBe('');
    await database.drop();
  });
});

describe('The program', () => {
  it('names a command that it does not know', async () => {
    const { exitCode, stderr } = await runCommand(['tokens', 'create'], {});
    expect(stderr).toMatch(/^Unknown command: "tokens create"\.\nUsage: webhooks/);
    expect(exitCode).toBe(2);
  });

  it('explains each of its commands', async () => {
    const { stdout } = await runCommand(['--help'], {});
    const names = Array.from(stdout.matchAll(/^ {2}(.{14})\S/gm), ([, name = '']) => name.trim());
    expect(names).toContain('token create');
    for (const name of names) {
      const help = await runCommand([...name.split(' '), '--help'], {});
      expect([help.exitCode, help.stdout.split('\n', 1)[0], help.stderr]).toEqual([
        ...[0, expect.stringMatching(`^Usage: npx webhooks ${name}`), ''],
      ]);
    }
  });

  it.each([
    [['migrate', '--dry-run'], /^migrate takes no arguments: remove --dry-run\nUsage: npx webhooks migrate\n$/],
    [['start', '--port', '1'], /^start takes no arguments: remove --port\nUsage: npx webhooks start\n$/],
    [
      ['token', 'create'],
      /^--user must be .*\nUsage: npx webhooks token create --user .*\nScopes: webhooks:read, .*\n$/,
    ],
    [['token', 'create', '--usr', 'a'], /^Unknown option '--usr'.*\nUsage: npx webhooks token create /],
    [['verify', 'a', 'b'], /^Name one file only\.\nUsage: npx webhooks verify /],
    [['verify', '/nowhere'], /^Set WEBHOOK_SECRET, or name a file/],
  ])('says what is wrong with %j, and how the command is used', async (words, sentence) => {
    const { exitCode, stdout, stderr } = await runCommand(words, { DATABASE_URL: 'postgres://u:canary@127.0.0.1:1/d' });
    expect(stderr).toMatch(sentence);
    expect([stdout, exitCode]).toEqual(['', 2]);
  });
});
