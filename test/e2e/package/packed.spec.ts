import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describeOnline } from '../../support/online';

const ROOT = join(__dirname, '../../..');
const PACKAGE = join(ROOT, 'packages/webhook-notification');
interface Manifest {
  version: string;
  bin?: Record<string, string>;
  exports: Record<string, unknown>;
  dependencies?: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
}
const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const OWN = manifestOf(PACKAGE);
/** Entry points with what they need of an application's own packages. */
const NEEDED: Record<string, string[]> = {
  '.': [],
  './catalogue': [],
  './cli': [],
  './nest': ['@nestjs/common'],
  './nest/receiver': ['@nestjs/common', '@nestjs/core', 'rxjs'],
  './testing': ['@nestjs/common'],
};
const nameOf = (entry: string) => `webhook-notification${entry.slice(1)}`;

/** A program that prints what kysely, which the library loads, would ask. */
const KYSELY = `const { fromKysely } = require('webhook-notification/nest');
  const db = { executeQuery: (query) => Promise.resolve(console.log(JSON.stringify(query.sql))) };
  fromKysely(db).query('select 1', []);`;

interface Packed {
  filename: string;
  unpackedSize: number;
  files: { path: string }[];
}

/** Packs a package as it is built. */
function pack(cwd: string, folder: string): Packed {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [packed] = JSON.parse(
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  ) as [Packed];
  return packed;
}

function install(folder: string, ...tarballs: string[]): void {
  writeFileSync(join(folder, 'package.json'), '{"name":"application","version":"1.0.0","private":true}');
  execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--legacy-peer-deps', ...tarballs], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** The package as npm installs it from its tarball, in an application that has nothing else. */
describe('The packed library', () => {
  let folder: string;
  let tarball: string;
  let packed: Packed;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'wns-library-'));
    packed = pack(PACKAGE, folder);
    tarball = join(folder, packed.filename);
    install(folder, tarball);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...args: string[]): unknown =>
    JSON.parse(execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }));
  /** Makes packages of the application's own available to it. */
  const provide = (names: readonly string[]) => {
    for (const name of names) {
      mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true });
      const link = join(folder, 'node_modules', name);
      if (!existsSync(link)) symlinkSync(join(ROOT, 'node_modules', name), link);
    }
  };

  it('has the version of the service, types beside everything, no commands, no tests, and less than 700 kB', () => {
    const service = manifestOf(ROOT);
    expect(OWN.version).toBe(service.version);
    expect(service.dependencies?.['webhook-notification']).toBe(OWN.version);
    const paths = packed.files.map(({ path }) => path);
    expect(
      paths.filter(
        (path) => !/^(dist\/.+\.(js|d\.ts)|dist\/esm\/.+\.mjs|package\.json|README\.md|LICENSE)$/.test(path),
      ),
    ).toEqual([]);
    expect(paths.filter((path) => path.includes('.spec.'))).toEqual([]);
    const scripts = paths.filter((path) => path.endsWith('.js'));
    expect(scripts.filter((path) => !paths.includes(path.replace(/\.js$/, '.d.ts')))).toEqual([]);
    expect(OWN.bin).toBeUndefined();
    expect(packed.unpackedSize).toBeLessThan(700_000);
  });

  it('depends on the schema validator, and asks for nothing that an application may do without', () => {
    expect(Object.keys(OWN.dependencies ?? {}).sort()).toEqual(['ajv', 'ajv-formats']);
    const optional = Object.entries(OWN.peerDependenciesMeta).filter(([, { optional: is }]) => is);
    expect(optional.map(([name]) => name).sort()).toEqual(Object.keys(OWN.peerDependencies).sort());
  });

  it('has these entry points, and loads none of the frameworks with the first', () => {
    expect(Object.keys(OWN.exports).sort()).toEqual([...Object.keys(NEEDED), './package.json'].sort());
    const loaded = run(
      '-e',
      `require('webhook-notification'); console.log(JSON.stringify(Object.keys(require.cache)))`,
    ) as string[];
    expect(loaded.filter((path) => !path.includes('/node_modules/webhook-notification/dist/'))).toEqual([]);
    expect(loaded.length).toBeGreaterThan(3);
  });

  it('gives the same to require and to import, so that each class exists once in a process', () => {
    provide([...new Set(Object.values(NEEDED).flat())]);
    for (const entry of Object.keys(NEEDED).map(nameOf)) {
      const script = `import * as imported from '${entry}';
        import { createRequire } from 'node:module';
        const required = createRequire(import.meta.url)('${entry}');
        const { default: _, 'module.exports': __, __esModule: ___, ...names } = imported;
        const others = Object.keys({ ...names, ...required }).filter((name) => names[name] !== required[name]);
        console.log(JSON.stringify({ others, count: Object.keys(names).length }))`;
      expect({ entry, ...(run('--input-type=module', '-e', script) as object) }).toEqual({
        ...{ entry, others: [], count: expect.any(Number) },
      });
    }
  });

  it.each([
    ['esm', 'mjs'],
    ['cjs', 'cjs'],
  ] as const)('is bundled by esbuild as %s, with each class once, and runs there', async (format, extension) => {
    provide([...new Set(Object.values(NEEDED).flat()), 'kysely']);
    const entries = Object.keys(NEEDED).map(nameOf);
    const [main, bundle] = [join(folder, `bundle-${format}.js`), join(folder, `bundle.${extension}`)];
    const kysely = `{ executeQuery: ({ sql }) => Promise.resolve([sql]) }`;
    const program = `${entries.map((entry, i) => `import * as of${i} from '${entry}'; const too${i} = require('${entry}');`).join('\n')}
      const same = [${entries.map((_, i) => `Object.keys(too${i}).every((name) => of${i}[name] === too${i}[name])`).join()}];
      const signed = of0.signDelivery({ event: 'a.b', data: {}, secret: 'a long secret' });
      const { event } = of0.verifySignature(signed.body, signed.headers, 'a long secret');
      const catalogue = new of1.EventCatalogue({ extraEventTypes: ['a.b'], eventMaxBytes: 1000 });
      of3.fromKysely(${kysely}).query('select 1', []).then((rows) =>
        console.log(JSON.stringify({ same, event, names: catalogue.all.some(({ name }) => name === 'a.b'), rows })));`;
    writeFileSync(main, program);
    const { warnings } = await build({
      ...{ entryPoints: [main], outfile: bundle, bundle: true, platform: 'node', format, logLevel: 'silent' },
      external: ['@nestjs/*', 'rxjs'],
    });
    expect(warnings).toEqual([]);
    const same = entries.map(() => true);
    expect(run(bundle)).toEqual({ same, event: 'a.b', names: true, rows: ['select 1'] });
  });

  describeOnline('installed with other packages by', () => {
    it.each([
      ['pnpm', ['pnpm@10', 'add']],
      // Nest 12 is ES modules, of which the other linker of yarn says that it loads them as an experiment.
      ['yarn', ['--package=@yarnpkg/cli-dist@4', 'yarn', 'add']],
    ])('%s finds them', (name, command) => {
      const home = join(folder, name);
      mkdirSync(home);
      writeFileSync(join(home, 'package.json'), '{"name":"application","version":"1.0.0","private":true}');
      writeFileSync(join(home, 'yarn.lock'), '');
      // Of npm's settings yarn reads none: behind a proxy it would not know who signs.
      const cafile = execFileSync('npm', ['config', 'get', 'cafile'], { encoding: 'utf8' }).trim();
      const trust = cafile === 'null' ? '' : `httpsCaFilePath: ${JSON.stringify(cafile)}\n`;
      writeFileSync(join(home, '.yarnrc.yml'), `nodeLinker: node-modules\n${trust}`);
      const others = ['kysely', '@nestjs/common', 'reflect-metadata', 'rxjs'];
      const library = `webhook-notification@file:${tarball}`;
      const { status, stdout, stderr } = spawnSync('npx', ['--yes', ...command, library, ...others], {
        cwd: home,
        encoding: 'utf8',
      });
      expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
      writeFileSync(join(home, 'main.cjs'), KYSELY);
      expect(run(join(home, 'main.cjs'))).toBe('select 1');
    });
  });

  it('finds what only the application has, in a monorepo that hoists the library', () => {
    const shop = join(folder, 'apps/shop');
    mkdirSync(join(shop, 'node_modules'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules/kysely'), join(shop, 'node_modules/kysely'));
    provide(['@nestjs/common']);
    writeFileSync(join(shop, 'main.cjs'), KYSELY);
    expect(run(join(shop, 'main.cjs'))).toBe('select 1');
  });

  it.each([
    ['publint', [join(ROOT, 'node_modules/publint/src/cli.js'), 'run', '--strict', '--pack', 'false']],
    ['arethetypeswrong', [join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js')]],
  ])('is found right by %s', (name, args) => {
    const subject = name === 'publint' ? [join(folder, 'node_modules/webhook-notification')] : [tarball];
    const { status, stdout, stderr } = spawnSync(process.execPath, [...args, ...subject], { encoding: 'utf8' });
    expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
  });

  it.each([
    ['commonjs', 'node10', 'commonjs'],
    ['node16', 'node16', 'commonjs'],
    ['node16', 'node16', 'module'],
    ['nodenext', 'nodenext', 'module'],
    ['esnext', 'bundler', 'module'],
  ])('has types for strict hosts: module %s, %s, type %s', (module, moduleResolution, type) => {
    provide(['@nestjs/common', '@nestjs/core', 'rxjs']);
    // Before nodenext, TypeScript lets no CommonJS file, as the types of the library are, import an ES module, as Nest 12 is.
    const isUnchecked = ['node10', 'node16'].includes(moduleResolution);
    const name = `host-${moduleResolution}-${type}.ts`;
    writeFileSync(
      join(folder, name),
      `import { EventCatalogue } from 'webhook-notification/catalogue';
       import { EventsService, fromPrisma, http } from 'webhook-notification/nest';
       import { WebhookReceiverModule } from 'webhook-notification/nest/receiver';
       import { TestingEventsService } from 'webhook-notification/testing';
       import { attempt } from 'webhook-notification/cli';
       export const all = [EventCatalogue, EventsService, fromPrisma, http, WebhookReceiverModule, TestingEventsService, attempt];
       import { createClient, signDelivery, verifySignature, type ApiSchema, type ReceivedEvent } from 'webhook-notification';
       declare module 'webhook-notification' {
         interface EventPayloads { 'invoice.paid': { cents: number } }
       }
       export const event: ReceivedEvent = verifySignature('', {}, 'secret');
       export const signed = signDelivery({ event: 'invoice.paid', data: { cents: 1 }, secret: 'secret' });
       // @ts-expect-error: the secret is missing
       export const wrong = signDelivery({ event: 'invoice.paid', data: { cents: 1 } });
       export const client = createClient({ url: 'https://example.com', token: 'token', fetch });
       export const webhook: Promise<ApiSchema<'Webhook'>> = client.webhooks.read('id');
       export const published = client.events.publish({ event: 'invoice.paid', data: { cents: 1 } });
       // @ts-expect-error: the data has another field
       export const refused = client.events.publish({ event: 'invoice.paid', data: { euros: 1 } });
       // @ts-expect-error: the second event lacks its data
       export const halves = client.events.publishBatch([{ event: 'a.b', data: {} }, { event: 'invoice.paid', data: {} }]);
       // @ts-expect-error: there is no such route
       export const lost = client.request('GET', '/api/nowhere', {});
       // @ts-expect-error: the id is missing
       export const unnamed = client.request('GET', '/api/webhooks/{id}');
       // @ts-expect-error: a list that follows changes has no end
       export const endless = client.deliveries.all({ changedAfter: 'now' });`,
    );
    const strict = '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess';
    const syntax = `${type === 'module' ? '--verbatimModuleSyntax' : ''} ${isUnchecked ? '--skipLibCheck' : ''}`;
    const resolution = `--module ${module} --moduleResolution ${moduleResolution} --ignoreDeprecations 6.0`;
    const options = `--noEmit ${strict} ${syntax} --esModuleInterop --target es2023 --types node ${resolution}`;
    writeFileSync(join(folder, 'package.json'), `{"name":"application","private":true,"type":"${type}"}`);
    const types = ['--typeRoots', join(ROOT, 'node_modules/@types')];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout, status } = spawnSync(process.execPath, [tsc, ...options.split(/ +/), ...types, name], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });
});

/** The package of the commands as npm installs it with the library, in an application that has nothing else. */
describe('The packed commands', () => {
  const COMMANDS = join(ROOT, 'packages/webhook-notification-cli');
  let folder: string;
  let packed: Packed;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'wns-commands-'));
    packed = pack(COMMANDS, folder);
    install(folder, ...[pack(PACKAGE, folder), packed].map(({ filename }) => join(folder, filename)));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('need the library of the same version and nothing else, and have less than 120 kB', () => {
    const { version, dependencies } = manifestOf(COMMANDS);
    expect({ version, dependencies }).toEqual({
      version: OWN.version,
      dependencies: { 'webhook-notification': version },
    });
    const others = packed.files.map(({ path }) => path).filter((path) => !/^dist\/(?!.*\.spec\.).+\.js$/.test(path));
    expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
    expect(packed.unpackedSize).toBeLessThan(120_000);
  });

  // As npx of another name than the program's runs it: the package must have one program.
  it.each(['webhook-notification', 'webhook-notification-cli'])('run as npx %s', (name) => {
    const env = { ...process.env, npm_config_offline: 'true', npm_config_yes: 'false' };
    const printed = execFileSync('npx', [name, 'outbox', 'sql'], { cwd: folder, env, encoding: 'utf8' });
    expect(printed).toContain('create table');
  });

  it('load no dependency of the library', () => {
    const program = join(folder, 'node_modules/webhook-notification-cli/dist/command.js');
    const script = `process.on('exit', () => console.error(JSON.stringify(Object.keys(require.cache)))); require(${JSON.stringify(program)})`;
    const { stderr } = spawnSync(process.execPath, ['-e', script, 'webhook-notification', '--help'], {
      cwd: folder,
      encoding: 'utf8',
    });
    const loaded = JSON.parse(stderr) as string[];
    expect(loaded.filter((path) => !/node_modules\/webhook-notification(-cli)?\/dist\//.test(path))).toEqual([]);
    expect(loaded.length).toBeGreaterThan(20);
  });

  it('are found right by publint', () => {
    const publint = [join(ROOT, 'node_modules/publint/src/cli.js'), 'run', '--strict', '--pack', 'false'];
    const subject = join(folder, 'node_modules/webhook-notification-cli');
    const { status, stdout, stderr } = spawnSync(process.execPath, [...publint, subject], { encoding: 'utf8' });
    expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
  });
});
