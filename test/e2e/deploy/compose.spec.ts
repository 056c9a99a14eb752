import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { readSettingFiles } from '../../../src/infrastructure/config/environment.setup';
import { schema, variableOf } from '../../../src/infrastructure/config/settings-schema';
import { administrate, cloneDatabase, databaseUrl } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { defaultSettings, runCommand, type Settings, startService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { environmentOf, interpolate, readCompose, type Variables } from '../stage/compose';
import { describeWhereInstalled } from '../../support/programs';
import { publish, settledDeliveries, subscribe } from '../stage/steps';
import { blocksOf } from '../stage/guides';

const PROCESSES = ['service', 'api', 'worker'];
/** What the file decides itself, in addition to the settings without a value. */
const DECIDED = [
  'PORT',
  'HOST',
  'METRICS_PORT',
  'METRICS_HOST',
  'DATABASE_URL',
  'REDIS_URL',
  'SECRETS_KEY',
  'PGPASSWORD',
];
/** What starts the file. */
const REQUIRED = { SECRETS_KEY: 'k', POSTGRES_PASSWORD: 'p' };

const compose = readCompose();
// Both files are in docs/deploying.md.
const [secretsFile = ''] = blocksOf('Docker Compose', 'yaml');
const [secretsEnvironment = ''] = blocksOf('Docker Compose', 'ini');
const serviceOf = (name: string, file = compose) => file.services[name] ?? fail(`There is no ${name}.`);
const fail = (message: string): never => {
  throw new Error(message);
};

/** The variables that name files: all that the service asks for. */
function fileVariables(): string[] {
  const names: string[] = [];
  readSettingFiles(new Proxy({}, { get: (_, name) => void names.push(String(name)) }));
  return names;
}

/** The variables of a `.env` file without quotes. */
const variablesOf = (text: string): Variables =>
  Object.fromEntries(text.split('\n').flatMap((line) => (/^\w+=/.test(line) ? [line.split(/=(.*)/s)] : [])));

describe('docker-compose.yml', () => {
  it.each(PROCESSES)('lets every setting reach %s, and decides only what it must', (name) => {
    const { environment } = serviceOf(name);
    const settings = [...Object.keys(schema.shape).map(variableOf), ...fileVariables(), 'PGPASSWORD'];
    expect(fileVariables().length).toBeGreaterThan(5);
    expect(Object.keys(environment).sort()).toEqual([...new Set(settings)].sort());
    const decided = Object.keys(environment).filter((key) => environment[key] !== null);
    expect(decided.sort()).toEqual([...DECIDED, ...(name === 'service' ? [] : ['ROLE'])].sort());
  });

  it('stops no process before its drain can end', () => {
    const [, longestMs] = /\.\.(\d+)\)/.exec(String(schema.shape.deliveryTimeoutMs.meta()?.shown)) ?? [];
    for (const name of PROCESSES)
      expect(parseInt(serviceOf(name).stop_grace_period ?? '', 10)).toBeGreaterThanOrEqual(
        Number(longestMs) / 1000 + 7,
      );
  });

  it('has the image of this version', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    for (const name of PROCESSES)
      expect(interpolate(serviceOf(name).image, { IMAGE: 'host/name' })).toBe(`host/name:${version}`);
  });

  it.each<[string, Variables, string | null]>([
    ['a password only', { POSTGRES_PASSWORD: 'p' }, 'SECRETS_KEY is missing'],
    ['a key only', { SECRETS_KEY: 'k' }, 'POSTGRES_PASSWORD is missing'],
    ['a key and a password', REQUIRED, null],
    ['files', variablesOf(secretsEnvironment), null],
  ])('says what is missing with %s', (_, variables, problem) => {
    const check = () => PROCESSES.map((name) => environmentOf(serviceOf(name), variables));
    if (problem) expect(check).toThrow(problem);
    else expect(check).not.toThrow();
  });

  it('has two API processes and three workers with the profile', () => {
    const scaled = Object.entries(compose.services).filter(([, { profiles }]) => profiles?.includes('scaled'));
    const roles = scaled.map(([, each]) => [
      environmentOf(each, { ...REQUIRED, ROLE: 'all' }).ROLE,
      each.deploy?.replicas ?? 1,
    ]);
    expect(roles).toEqual([
      ['api', 1],
      ['worker', 3],
    ]);
    expect(environmentOf(serviceOf('service'), { ...REQUIRED, ROLE: 'api' }).ROLE).toBe('api');
    const ports = PROCESSES.flatMap((name) => serviceOf(name).ports ?? []).map((port) => interpolate(port, {}));
    expect(ports).toEqual(['127.0.0.1:3000:3000', '127.0.0.1:3001:3000']);
  });

  it('keeps the stores on a network that leads nowhere', () => {
    const onStores = Object.entries(compose.services).filter(([, { networks }]) => networks?.includes('stores'));
    expect(onStores.map(([name]) => name)).toEqual([...PROCESSES, 'postgres', 'valkey']);
    expect(compose.networks.stores).toEqual({ internal: true });
    for (const name of ['postgres', 'valkey']) expect(serviceOf(name)).toMatchObject({ networks: ['stores'] });
    for (const name of ['postgres', 'valkey']) expect(serviceOf(name).ports).toBeUndefined();
  });

  it('lets Prometheus scrape every process', async () => {
    const config = await readFile('ops/prometheus.yml', 'utf8');
    expect(config).toContain(`names: [${PROCESSES.join(', ')}]`);
    expect(config).toContain(`port: ${environmentOf(serviceOf('service'), REQUIRED).METRICS_PORT}`);
    for (const name of [...PROCESSES, 'prometheus'])
      expect(serviceOf(name).networks ?? ['default']).toContain('default');
  });
});

describe('docker-compose.secrets.yml of the guide', () => {
  it('mounts for every process the files that .env names', () => {
    const merged = readCompose(secretsFile);
    const mounted = (name: string) => serviceOf(name, merged).secrets?.map((secret) => `/run/secrets/${secret}`);
    const variables = variablesOf(secretsEnvironment);
    for (const name of PROCESSES) {
      const environment = environmentOf(serviceOf(name, merged), variables);
      expect(mounted(name)).toEqual([environment.SECRETS_KEY_FILE, environment.DATABASE_URL_FILE]);
      expect(environment).toMatchObject({ SECRETS_KEY: '', DATABASE_URL: '', PGPASSWORD: '' });
    }
    const { POSTGRES_PASSWORD_FILE } = environmentOf(serviceOf('postgres', merged), variables);
    expect(mounted('postgres')).toEqual([POSTGRES_PASSWORD_FILE]);
    expect(Object.keys(merged.secrets ?? {}).sort()).toEqual(
      [...new Set(Object.values(merged.services).flatMap(({ secrets = [] }) => secrets))].sort(),
    );
  });
});

describeWhereInstalled('check-jsonschema', 'docker-compose.yml, by the Compose specification', () => {
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'compose-'))));
  afterAll(() => rm(folder, { recursive: true }));

  it('is valid, and so is the fragment of the guide', async () => {
    const fragment = join(folder, 'docker-compose.secrets.yml');
    await writeFile(fragment, secretsFile);
    const args = ['--builtin-schema', 'vendor.compose-spec', 'docker-compose.yml', fragment];
    expect(execFileSync('check-jsonschema', args, { encoding: 'utf8' })).toContain('ok');
  });
});

describeWhereInstalled('promtool', 'ops/prometheus.yml, by promtool', () => {
  it('is valid', () => {
    expect(execFileSync('promtool', ['check', 'config', 'ops/prometheus.yml'], { encoding: 'utf8' })).toContain(
      'ops/prometheus.yml is valid',
    );
  });
});

/** Takes back what `startService` sets by itself, but for the token. */
const { BOOTSTRAP_TOKEN: _, ...others } = defaultSettings('', '');
const UNSET: Settings = Object.fromEntries(Object.keys(others).map((name) => [name, undefined]));

describeOnStores('The environment of docker-compose.yml', (store) => {
  const PASSWORD = 'p@ss/w:o#r%d $x\'"\\';
  const role = `webhooks_${randomBytes(4).toString('hex')}`;
  const receiver = useReceiver();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'compose-'));
    await administrate(`create role ${escapeIdentifier(role)} login password ${escapeLiteral(PASSWORD)}`);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await administrate(`drop owned by ${escapeIdentifier(role)}`);
    await administrate(`drop role ${escapeIdentifier(role)}`);
  });

  /** The environment of the service in Docker, but for the names and ports that only Docker's network has. */
  function replay(database: string, variables: Variables): Settings {
    const { PORT, HOST, METRICS_PORT, METRICS_HOST, ...all } = environmentOf(serviceOf('service'), variables);
    expect({ PORT, HOST, METRICS_PORT, METRICS_HOST }).toEqual({
      ...{ PORT: '3000', HOST: '0.0.0.0', METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' },
    });
    const { host } = new URL(databaseUrl(database));
    const toServer = (url?: string) => url?.replace('webhooks@postgres:5432/webhooks', `${role}@${host}/${database}`);
    return { ...all, HOST: '127.0.0.1', DATABASE_URL: toServer(all.DATABASE_URL) };
  }

  async function delivers(variablesFor: (url: URL) => Promise<Variables>): Promise<void> {
    const database = await cloneDatabase();
    try {
      const name = new URL(database.url).pathname.slice(1);
      await database.query('drop schema if exists webhook_service, webhook_service_queue cascade');
      await administrate(`alter database ${name} owner to ${escapeIdentifier(role)}`);
      const url = Object.assign(new URL(database.url), { username: role, password: '' });
      const { REDIS_URL = '' } = store.settings();
      const given = { ...(await variablesFor(url)), REDIS_URL, ALLOWED_NETWORKS: '127.0.0.0/8' };
      const settings = replay(name, given);
      const commands = [['migrate'], ['rekey'], ['console-link', '--user', 'admin']];
      for (const words of commands)
        expect(await runCommand(words, settings)).toMatchObject({ stderr: '', exitCode: 0 });
      const service = await startService({ ...UNSET, ...settings }, database);
      try {
        const hook = receiver.hook();
        const webhook = await subscribe(service.api, hook, ['job.started']);
        const event = await publish(service.api, 'job.started');
        expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([{ status: 'succeeded' }]);
      } finally {
        expect(await service.stop()).toBe(0);
      }
    } finally {
      await database.drop();
    }
  }

  const secretsKey = () => randomBytes(32).toString('base64');

  it('makes the first delivery with a password of any characters', () =>
    delivers(async () => ({ SECRETS_KEY: secretsKey(), POSTGRES_PASSWORD: PASSWORD })));

  it('makes it with a key and a percent-encoded url in files', () =>
    delivers(async (url) => {
      const files = { SECRETS_KEY_FILE: join(folder, 'secrets_key'), DATABASE_URL_FILE: join(folder, 'database_url') };
      await writeFile(files.SECRETS_KEY_FILE, `${secretsKey()}\n`);
      const withPassword = url.href.replace('@', `:${encodeURIComponent(PASSWORD)}@`);
      await writeFile(files.DATABASE_URL_FILE, `${withPassword}\n`);
      return { ...variablesOf(secretsEnvironment), ...files };
    }));
});
