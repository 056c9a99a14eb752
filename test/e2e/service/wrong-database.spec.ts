import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { administrate, databaseUrl } from '../../support/postgres';
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
const OTHER = `${NAME}_latin1`;
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
  await administrate(`create database ${OTHER} encoding 'LATIN1' locale 'C' locale_provider libc template template0`);
});
afterAll(async () => {
  for (const name of [NAME, OTHER]) await administrate(`drop database if exists ${name} with (force)`);
  await administrate(`drop role ${ROLE}`);
});

describe('A start on a database that does not fit', () => {
  it.each<[string, () => string, string]>([
    [
      'in LATIN1',
      () => urlOf(OTHER),
      `has the encoding LATIN1, and the service requires UTF8. Create another one, and set DATABASE_URL to it: create database "${OTHER}_utf8" owner "${ROLE}" encoding 'UTF8'`,
    ],
    [
      'that is missing',
      () => urlOf(`${NAME}_none`),
      `Create it as an administrator: create database "${NAME}_none" owner "${ROLE}"`,
    ],
    [
      'without the right to create a schema',
      () => urlOf(NAME),
      `grant create on database "${NAME}" to "${ROLE}"; or create the schemas yourself: create schema webhook_service authorization "${ROLE}"`,
    ],
    ['with a wrong password', () => urlOf(NAME, 'canary'), 'Check user and password of DATABASE_URL'],
    [
      'at another port',
      () => 'postgres://u:canary@127.0.0.1:1/d',
      'Check host and port of DATABASE_URL, and that the server runs.',
    ],
    ['at an unknown host', () => 'postgres://u:canary@nowhere.invalid/d', 'DATABASE_URL'],
    ['at an unknown socket', () => 'postgres://u:canary@/d?host=/nowhere', 'Check the folder of its socket'],
  ])('%s says what to do', async (_, url, sentence) => {
    const { exitCode, stdout, stderr } = await start(url());
    expect(stderr).toContain(sentence);
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
    for (const line of there()
      .split('\n')
      .filter((text) => text.includes('ECONNREFUSED')))
      expect(JSON.parse(line)).toBeDefined();
  });
});

describe('The program', () => {
  it('names a command that it does not know', async () => {
    const { exitCode, stderr } = await runCommand(['tokens', 'create'], {});
    expect(stderr).toMatch(/^Unknown command: "tokens create"\.\nUsage: webhooks/);
    expect(exitCode).toBe(2);
  });

  it('explains every command, and runs none that it does not understand', async () => {
    const { stdout: usage } = await runCommand(['--help'], {});
    const names = [...usage.matchAll(/^ {2}(\S+(?: \S+)?) /gm)].map(([, name = '']) => name);
    expect(names).toEqual(['start', 'token create', 'console-link', 'verify', 'rekey', 'migrate', 'openapi']);
    for (const name of names) {
      for (const option of ['--help', '-h']) {
        const { exitCode, stdout, stderr } = await runCommand([...name.split(' '), option], {});
        expect([exitCode, stdout, stderr]).toEqual([0, expect.stringMatching(`^Usage: webhooks ${name}[ \n]`), '']);
      }
      const { exitCode, stdout, stderr } = await runCommand([...name.split(' '), '--no-such'], {});
      expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringContaining(`\nUsage: webhooks ${name}`)]);
      expect(stderr).toContain("Unknown option '--no-such'");
    }
  });
});
