import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataOf } from '../../support/api';
import { cloneDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { defaultSettings, runServiceFile, type Settings, startService } from '../../support/service';

const TOKEN = `wns_${'A'.repeat(43)}`;
const NOBODY = 'postgres://nobody:database-password@127.0.0.1:1/none';

describe('A start with wrong settings', () => {
  const startWith = (settings: Settings) =>
    runServiceFile('src/main.js', [], { ...defaultSettings(NOBODY, TOKEN), ...settings });

  it('names every problem at once and exits with another code than 0', async () => {
    const wrong = {
      PORT: 'abc',
      ROLE: 'king',
      SECRETS_KEY: 'too-short-key',
      BOOTSTRAP_TOKEN: 'wns_token-canary',
      ALLOWED_NETWORKS: '0.0.0.0/0',
      DELIVERY_TIMEOUT_MS: '499',
      MAX_RETRIES: '4',
      RETRY_BASE_DELAY_MS: '9',
      RETRY_FACTOR: '11',
      RETRY_JITTER: '0.6',
      EVENT_MAX_BYTES: '1023',
      MAX_WEBHOOKS_PER_USER: '0',
      DATABASE_POOL_SIZE: '1',
      REDIS_URL: 'http://redis-canary',
      LOG_LEVEL: 'loud',
      DOCS: 'perhaps',
    };
    const { exitCode, stdout, stderr } = await startWith(wrong);
    expect(exitCode).toBeGreaterThan(0);
    const unnamed = Object.keys(wrong).filter((name) => !stderr.includes(name));
    expect(unnamed).toEqual([]);
    expect(stdout + stderr).not.toMatch(/canary|database-password|^\s+at /m);
  });

  it('misses SECRETS_KEY when it has a DATABASE_URL', async () => {
    const { exitCode, stderr } = await startWith({ SECRETS_KEY: undefined, DATABASE_URL: NOBODY });
    expect(exitCode).toBeGreaterThan(0);
    expect(stderr).toContain('SECRETS_KEY');
  });

  it('counts an empty value as not set', async () => {
    const { exitCode, stderr } = await startWith({ SECRETS_KEY: '', PORT: '' });
    expect(exitCode).toBeGreaterThan(0);
    expect(stderr).toContain('SECRETS_KEY');
    expect(stderr).not.toContain('PORT');
  });

  it('of a database that cannot be reached says so without its password', async () => {
    const { exitCode, stdout, stderr } = await startWith({});
    expect(exitCode).toBeGreaterThan(0);
    expect(stdout + stderr).toMatch(/database/i);
    expect(stdout + stderr).not.toContain('database-password');
  });
});

describe('Secrets in files', () => {
  const receiver = useReceiver();

  it('are those of a service that has them in its environment', async () => {
    const [folder, database] = await Promise.all([mkdtemp(join(tmpdir(), 'secrets-')), cloneDatabase()]);
    const secrets = { DATABASE_URL: database.url, SECRETS_KEY: Buffer.alloc(32, 9).toString('base64') };
    const files = Object.entries(secrets).map(([name, value]) => [name, join(folder, name), value] as const);
    await Promise.all(files.map(([, path, value]) => writeFile(path, `${value}\n`)));
    const settings = Object.fromEntries(
      files.flatMap(([name, path]) => [
        [name, undefined],
        [`${name}_FILE`, path],
      ]),
    );
    try {
      const service = await startService(settings, database);
      const webhook = await dataOf(service.api.createWebhook({ url: receiver.hook().url, events: ['*'] }), 201);
      expect(await service.stop()).toBe(0);
      // The same key, given as a value, decrypts what that service has stored.
      const again = await startService({ SECRETS_KEY: secrets.SECRETS_KEY }, database);
      expect(await dataOf(again.api.testWebhook(webhook.id))).toMatchObject({ status: 'succeeded' });
      expect(await again.stop()).toBe(0);
      expect(service.logs() + again.logs()).not.toContain(secrets.SECRETS_KEY);
    } finally {
      await database.drop();
      await rm(folder, { recursive: true });
    }
  });
});
