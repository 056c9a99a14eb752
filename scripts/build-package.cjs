// Builds a folder of `packages`: the one that is named, or else the one in which `npm pack` runs.
const { spawnSync } = require('node:child_process');
const { readFileSync, rmSync } = require('node:fs');
const { join, resolve } = require('node:path');
const writeLibraryTypes = require('./library-types.cjs');

const folder = resolve(process.argv[2] ?? '.');

function compile() {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  const tsc = require.resolve('typescript/bin/tsc');
  process.exitCode = spawnSync(process.execPath, [tsc, '-p', folder], { stdio: ['ignore', 2, 2] }).status ?? 1;
}

/**
 * Writes ES modules of the entry points that have the condition `module`, which only bundlers know: Node.js always loads the
 * CommonJS files, so that each class exists once in a process. A bundle of ES modules cannot `require` a package of Node.js.
 */
async function bundle() {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const modules = Object.values(exports ?? {}).flatMap(({ module }) => module ?? []);
  if (modules.length === 0) return;
  await require('esbuild').build({
    entryPoints: modules.map((path) => join(folder, path.replace('dist/esm', 'src').replace(/mjs$/, 'ts'))),
    outbase: join(folder, 'src'),
    outdir: join(folder, 'dist/esm'),
    outExtension: { '.js': '.mjs' },
    ...{ bundle: true, splitting: true, packages: 'external', platform: 'node', format: 'esm', target: 'es2023' },
    minifyWhitespace: true,
  });
}

void writeLibraryTypes().then(compile).then(bundle);
