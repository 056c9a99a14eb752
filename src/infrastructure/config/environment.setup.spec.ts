import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { readSettingFiles } from './environment.setup';
import { parseConfig, SettingsError } from './settings';

const KEY = Buffer.alloc(32, 7).toString('base64');
const URL_TEXT = 'postgres://user:canary@db.example/webhooks';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'settings-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(content: string | Buffer, name = 'file'): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const configOf = (environment: Record<string, string>) => parseConfig(environment, readSettingFiles(environment));

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    configOf(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe('A setting in a file', () => {
  it('counts like one in the environment', () => {
    const config = configOf({
      DATABASE_URL_FILE: fileOf(URL_TEXT, 'url'),
      SECRETS_KEY_FILE: fileOf(`${KEY}\n`, 'key'),
      BOOTSTRAP_TOKEN_FILE: fileOf(`wns_${'a'.repeat(43)}\r\n`, 'token'),
      REDIS_URL_FILE: fileOf('redis://:canary@cache.example', 'redis'),
      MONITORED_QUEUES_REDIS_URL_FILE: fileOf('redis://jobs.example', 'jobs'),
      EGRESS_PROXY_FILE: fileOf('https://user:canary@proxy.example:3128\n', 'proxy'),
      EGRESS_PROXY_RESOLVES: 'true',
      ROLE: 'worker',
    });
    expect(config).toMatchObject({
      ...{ databaseUrl: URL_TEXT, role: 'worker', host: '0.0.0.0', isLocal: false, allowedNetworks: [] },
      ...{ secretsKeys: [Buffer.alloc(32, 7)], bootstrapToken: `wns_${'a'.repeat(43)}` },
      ...{ redisUrl: 'redis://:canary@cache.example', monitoredQueuesRedisUrl: 'redis://jobs.example' },
      ...{ egressProxy: { hostname: 'proxy.example', port: 3128 }, egressProxyResolves: true },
    });
  });

  it('loses one newline at its end, and nothing else', () => {
    const read = (content: string) => readSettingFiles({ DATABASE_URL_FILE: fileOf(content) }).values.DATABASE_URL;
    expect(['a', 'a\n', 'a\r\n', 'a\n\n', ' a \n'].map(read)).toEqual(['a', 'a', 'a', 'a\n', ' a ']);
  });

  it('is found through links, as Kubernetes mounts secrets', () => {
    symlinkSync(fileOf(KEY, 'data'), join(folder, 'link'));
    expect(configOf({ SECRETS_KEY_FILE: join(folder, 'link') }).secretsKeys).toHaveLength(1);
  });

  it('is not set by an empty path', () => {
    expect(configOf({ DATABASE_URL_FILE: '', DATABASE_URL: '' }).databaseUrl).toBeNull();
  });

  it.each<[string, () => string, string]>([
    ['is missing', () => join(folder, 'none'), 'that this process can read'],
    ['is a folder', () => folder, 'the path of a file'],
    ['is a device', () => '/dev/zero', 'the path of a file'],
    ['is empty', () => fileOf(''), 'that is not empty'],
    ['has only a newline', () => fileOf('\n'), 'that is not empty'],
    ['is over 64 KiB', () => fileOf(Buffer.alloc(65_537, 'a')), 'of at most 64 KiB'],
  ])('stops the start when it %s', (_, path, rule) => {
    // The file counts as set, so the key that it needs is not missing.
    const problems = problemsOf({ DATABASE_URL: URL_TEXT, SECRETS_KEY_FILE: path() });
    expect(problems).toEqual([expect.stringMatching(/^SECRETS_KEY_FILE must be the path of a file/)]);
    expect(problems[0]).toContain(rule);
  });

  it('stops the start when this process must not read it', () => {
    const path = fileOf(KEY);
    chmodSync(path, 0);
    mkdirSync(join(folder, 'closed'), { mode: 0 });
    // Root may read everything.
    if (process.getuid?.() === 0) return;
    expect(problemsOf({ SECRETS_KEY_FILE: path })).toEqual([expect.stringContaining('can read')]);
  });

  it('cannot be set twice, and is reported with all other problems', () => {
    const problems = problemsOf({ SECRETS_KEY: KEY, SECRETS_KEY_FILE: fileOf(KEY), LOG_LEVEL: 'loud', PORT: 'x' });
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual(['LOG_LEVEL', 'PORT', 'SECRETS_KEY_FILE']);
    expect(problems.join()).toContain('SECRETS_KEY_FILE cannot be set together with SECRETS_KEY.');
  });

  it('is never quoted', () => {
    const problems = problemsOf({
      DATABASE_URL_FILE: fileOf('canary://user:canary@host'),
      EGRESS_PROXY_FILE: fileOf('http://user:canary@proxy\n.example:3128\n', 'proxy'),
      EGRESS_PROXY: 'http://user:canary@proxy.example:3128',
      REDIS_URL_FILE: '/canary',
    });
    expect(problems).toHaveLength(5);
    expect(problems.join()).not.toContain('canary');
  });
});

describe('EGRESS_CA_FILE', () => {
  const [one, two] = rootCertificates as [string, string];

  it('reads the certificates of a file in order, and ignores other text', () => {
    const path = fileOf(`# One\n${one}\n\n# Two\r\n${two}`);
    expect(configOf({ EGRESS_CA_FILE: path }).egressCaFile).toEqual([one, two]);
  });

  it.each<[string, () => string, string]>([
    ['is missing', () => join(folder, 'none'), 'a file that this process can read'],
    ['has no certificate', () => fileOf('canary'), 'with certificates in PEM'],
    ['has a key', () => fileOf(one.replaceAll('CERTIFICATE', 'PRIVATE KEY')), 'with certificates in PEM'],
    ['has a damaged certificate', () => fileOf(`${one}\n${two.slice(0, 200)}\n-----END CERTIFICATE-----`), 'in PEM'],
  ])('stops the start when it %s', (_, path, rule) => {
    expect(problemsOf({ EGRESS_CA_FILE: path() })).toEqual([
      expect.stringMatching(`^EGRESS_CA_FILE must be the path of .*${rule}`),
    ]);
  });
});
