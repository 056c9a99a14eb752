// `npm run test:deploy`: tests the files to deploy with the tools that read them (helm, checkov, promtool, actionlint …), which
// must be installed, and writes the hash of these files to test/deploy-tested. While the hash holds, CI installs none of
// the tools. `--is-tested` only says whether it holds, by the exit code.
const { execFileSync, spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { dirname, join } = require('node:path');

const root = dirname(require.resolve('../package.json'));
const note = join(root, 'test/deploy-tested');
const FILES = ['deploy', 'ops', '.github', 'Dockerfile', 'docker-bake.hcl', 'docker-compose.yml', 'test/e2e/deploy'];
const TESTS = ['test/e2e/deploy', 'test/e2e/infrastructure/alerts'];
/** No package registry has it. */
const UNAVAILABLE = ['buildx'];

function hashOfFiles() {
  const hash = createHash('sha256');
  const paths = execFileSync('git', ['ls-files', '-z', ...FILES], { cwd: root, encoding: 'utf8' }).split('\0');
  for (const path of paths.filter(Boolean)) hash.update(`${path}\0`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

function test() {
  const folder = mkdtempSync(join(tmpdir(), 'test-deploy-'));
  const env = { ...process.env, TEST_COUNTS: join(folder, 'counts') };
  try {
    const jest = [require.resolve('jest/bin/jest'), '--maxWorkers=2', ...TESTS];
    if (spawnSync(process.execPath, jest, { cwd: root, env, stdio: 'inherit' }).status !== 0) return false;
    const { missing } = JSON.parse(readFileSync(env.TEST_COUNTS, 'utf8'));
    const wanted = Object.keys(missing).filter((program) => program && !UNAVAILABLE.includes(program));
    if (wanted.length > 0) console.error(`Not tested without ${wanted.join(', ')}: install them first.`);
    return wanted.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv.includes('--is-tested')) {
  const isTested = existsSync(note) && readFileSync(note, 'utf8').trim() === hashOfFiles();
  process.exitCode = isTested ? 0 : 1;
} else if (test()) {
  writeFileSync(note, `${hashOfFiles()}\n`);
} else {
  process.exitCode = 1;
}
