// Builds the console into dist/console: scripts and styles with a hash in their names, each beside its brotli form, and
// index.html, whose %BASE% the service replaces by the way from the asked page to /console/. The page links the licenses of
// the packages and fonts in the bundle. With --development, the page /console/parts shows every part.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';

const here = import.meta.dirname;
const out = join(here, '..', 'dist', 'console');

await rm(out, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: { app: 'src/main.tsx' },
  outdir: join(out, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  loader: { '.woff2': 'file' },
  assetNames: '[name]-[hash]',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: { DEVELOPMENT: String(process.argv.includes('--development')) },
  metafile: true,
  legalComments: 'none',
});

/** The package, its version and its license texts: of each package that has a file in the bundle, fonts included. */
async function licenses() {
  const folders = Object.keys(metafile.inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  const texts = [...new Set(folders)].sort().map(async (folder) => {
    const path = join(here, folder);
    const { name, version, license } = JSON.parse(await readFile(join(path, 'package.json'), 'utf8'));
    const files = (await readdir(path)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort();
    // The Unlicense alone does not require its text.
    if (files.length === 0 && license !== 'Unlicense') throw new Error(`${name} has no license text to publish.`);
    const parts = await Promise.all(files.map((file) => readFile(join(path, file), 'utf8')));
    return `${name} ${version} (${license})\n\n${parts.join('\n').trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

const names = Object.keys(metafile.outputs).map((path) => basename(path));
const notices = await licenses();
const noticesName = `licenses-${createHash('sha256').update(notices).digest('hex').slice(0, 8).toUpperCase()}.txt`;
await writeFile(join(out, 'assets', noticesName), notices);
names.push(noticesName);
const nameOf = (end) => names.find((name) => name.startsWith('app-') && name.endsWith(end));
const fonts = names.filter((name) => name.endsWith('.woff2'));
const script = Object.keys(metafile.outputs).find((path) => basename(path) === nameOf('.js'));
/** The chunks that the first script imports at once, directly and indirectly. */
const importsOf = (path) =>
  metafile.outputs[path].imports.flatMap((each) =>
    each.kind === 'import-statement' ? [each.path, ...importsOf(each.path)] : [],
  );
const modules = [...new Set(importsOf(script))].map(
  (path) => `<link rel="modulepreload" href="%BASE%assets/${basename(path)}" />`,
);
const preload = (name) => `<link rel="preload" as="font" type="font/woff2" crossorigin href="%BASE%assets/${name}" />`;
const page = (await readFile(join(here, 'src', 'index.html'), 'utf8'))
  .replace('%PRELOADS%', [...fonts.map(preload), ...modules].join('\n    '))
  .replace('%LICENSES%', noticesName)
  .replace('%STYLE%', nameOf('.css'))
  .replace('%SCRIPT%', nameOf('.js'));
await mkdir(out, { recursive: true });
await writeFile(join(out, 'index.html'), page);
// Fonts are compressed already.
for (const name of names.filter((each) => !fonts.includes(each))) {
  const content = await readFile(join(out, 'assets', name));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  await writeFile(join(out, 'assets', `${name}.br`), brotliCompressSync(content, { params }));
}
