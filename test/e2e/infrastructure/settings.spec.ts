import { defaultSettings, runServiceFile, type Settings } from '../../support/service';

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
