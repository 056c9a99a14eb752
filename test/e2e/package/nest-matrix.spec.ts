import { execFile, type ExecFileOptions } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dataOf } from '../../support/api';
import { describeOnline } from '../../support/online';
import { useServiceProcess } from '../../support/service';

const ROOT = join(__dirname, '../../..');
const PROGRAM = join(ROOT, 'test/e2e/stage/clients/every-orm.ts');
/** Of other versions than the tests of this repository use, or in none of its packages. */
const ORMS = {
  ...{ typeorm: '^1.1.1', pg: '^8.23.1', '@types/pg': '^8.23.1', '@types/node': '^20.19.0', 'drizzle-orm': '^0.45.4' },
  ...{
    kysely: '^0.28.18',
    knex: '^3.3.0',
    sequelize: '^6.37.8',
    '@mikro-orm/core': '6.6.9',
    '@mikro-orm/postgresql': '6.6.9',
    postgres: '^3.4.9',
  },
  ...{ prisma: '6.19.3', '@prisma/client': '6.19.3', '@prisma/adapter-pg': '6.19.3' },
};
const NAMES = ['typeorm', 'pg', 'drizzle', 'kysely', 'knex', 'mikroOrm', 'postgresJs', 'prisma', 'sequelize'];
/** Without savepoints. */
const FLAT = ['prisma'];
/** A model, because Prisma generates no client without one; its engine is WebAssembly, and comes with the package. */
const SCHEMA = `
generator client {
  provider   = "prisma-client-js"
  engineType = "client"
}
datasource db {
  provider = "postgresql"
  url      = env("DATABASE_URL")
}
model Order {
  id String @id
}`;
const MODULES = {
  CommonJS: { type: 'commonjs', compilerOptions: { module: 'commonjs', moduleResolution: 'node10' } },
  ESM: { type: 'module', compilerOptions: { module: 'nodenext', moduleResolution: 'nodenext' } },
} as const;
type Combination = [nest: number, modules: keyof typeof MODULES];
/** The oldest and the newest, in the modules of most applications; with LONG=1 all. */
const SOME: Combination[] = [
  [10, 'CommonJS'],
  [12, 'ESM'],
];
const ALL: Combination[] = [10, 11, 12].flatMap((nest): Combination[] => [
  [nest, 'CommonJS'],
  [nest, 'ESM'],
]);

const run = (cwd: string, file: string, args: string[], options: ExecFileOptions = {}) =>
  promisify(execFile)(file, args, { cwd, encoding: 'utf8', maxBuffer: 1e8, ...options }).then(
    ({ stdout, stderr }) => ({ stdout: String(stdout), stderr: String(stderr) }),
    (error: Error & { stdout: string; stderr: string }) => {
      throw new Error(`${file} ${args.join(' ')}: ${error.stdout}${error.stderr}`, { cause: error });
    },
  );

/** Applications with the packed library, each with a version of Nest, as their own TypeScript compiles them. */
describeOnline('The library in an application of', () => {
  const service = useServiceProcess();
  let folder: string;
  let tarball: string;

  const install = (home: string, packages: Record<string, string>, tarballs: string[] = []) => {
    const manifest = { name: 'application', version: '1.0.0', private: true, dependencies: packages };
    writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps'];
    return run(home, 'npm', ['install', ...quiet, '--loglevel=error', ...tarballs]);
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wns-matrix-'));
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const { stdout } = await run(join(ROOT, 'packages/webhook-notification'), 'npm', pack);
    tarball = join(folder, (JSON.parse(stdout) as [{ filename: string }])[0].filename);
    await install(folder, ORMS);
    writeFileSync(join(folder, 'schema.prisma'), SCHEMA);
    await run(folder, process.execPath, ['node_modules/prisma/build/index.js', 'generate', '--schema=schema.prisma'], {
      env: {
        ...process.env,
        DATABASE_URL: 'postgres://localhost/x',
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        CHECKPOINT_DISABLE: '1',
      },
    });
    const types = await service.apiFor('operator', ['event-types:manage']);
    const declared = { description: 'An order was sent.', schema: { type: 'object' }, example: { id: 'first' } };
    await dataOf(types.saveEventType('order.sent', declared), 201);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  describe.each(process.env.LONG === '1' ? ALL : SOME)('Nest %i, %s', (nest, modules) => {
    let results: Record<string, string>;
    let remarks: string;

    beforeAll(async () => {
      const home = join(folder, `nest-${nest}-${modules}`);
      mkdirSync(home);
      const frameworks = { '@nestjs/common': `^${nest}.0.0`, '@nestjs/core': `^${nest}.0.0` };
      await install(home, { ...frameworks, 'reflect-metadata': '^0.2.2', rxjs: '^7.8.2' }, [tarball]);
      const { type, compilerOptions } = MODULES[modules];
      writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'application', version: '1.0.0', type }));
      copyFileSync(PROGRAM, join(home, 'main.ts'));
      const shared = {
        ...{ target: 'es2023', strict: true, skipLibCheck: true, esModuleInterop: true, outDir: 'dist' },
        ...{ experimentalDecorators: true, emitDecoratorMetadata: true, types: ['node'], ignoreDeprecations: '6.0' },
      };
      // Nest 12 is ES modules, which no package.json without exports leads to.
      const own = nest === 12 ? { module: 'nodenext', moduleResolution: 'nodenext' } : compilerOptions;
      const config = { compilerOptions: { ...shared, ...own }, files: ['main.ts'] };
      writeFileSync(join(home, 'tsconfig.json'), JSON.stringify(config));
      await run(home, process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc')]);
      const token = await service.createToken('shop', ['events:publish', 'events:broadcast', 'event-types:manage']);
      await service.database.query('delete from webhook_service.events');
      await service.database.query('delete from webhook_service.event_keys');
      const env = { ...process.env, WEBHOOKS_URL: service.url, WEBHOOKS_TOKEN: token };
      const { stdout, stderr } = await run(home, process.execPath, ['dist/main.js'], {
        env: { ...env, DATABASE_URL: service.database.url },
      });
      results = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, string>;
      remarks = stdout.split('\n').slice(0, -2).join('\n') + stderr;
    });

    it.each(NAMES)('publishes what a transaction of %s commits, with a pool of one connection', async (name) => {
      expect(results[name]).toBe('well');
      const rows = await service.database.query<{ id: string }>(
        `select body::jsonb -> 'data' ->> 'id' as id from webhook_service.events where body::jsonb -> 'data' ->> 'id' like $1`,
        [`% ${name}%`],
      );
      const whats = ['committed', ...(FLAT.includes(name) ? [] : ['outside']), 'alone', 'foreign', ''];
      const wanted = ['database', 'http'].flatMap((kind) => whats.map((what) => `${kind} ${name} ${what}`.trim()));
      expect(rows.map(({ id }) => id).sort()).toEqual(wanted.sort());
    });

    it('ends without a complaint about a closed connection', () => {
      expect(Object.keys(results).sort()).toEqual([...NAMES].sort());
      expect(remarks).not.toMatch(/clos|destroy|not relayed|end/i);
    });
  });
});
