// Which folders of src may import which others, as rules; dependencies point one way only. `npm run depcruise` checks
// it.

const { entryPoints, roles } = require('./scripts/roles.cjs');

const INFRASTRUCTURE =
  'config errors concurrency metrics validation health database pagination queue destinations http'.split(' ');
/** The folders of infrastructure that every feature may import: all of them. */
const USABLE = INFRASTRUCTURE.map((folder) => `infrastructure/${folder}`);
const infrastructure = (...folders) => folders.map((folder) => `infrastructure/${folder}`);

/**
 * The folders that a folder may import besides itself; all others are forbidden. A folder does not include its
 * subfolders, except `dto` and `migrations`. The line of a folder with subfolders of its own is about the files
 * directly in it, which all of the subfolders may import. Its module wires the subfolders, and may import all of them.
 */
const MAY_IMPORT = {
  // Infrastructure, lowest first: a line may list only lines above it.
  'infrastructure/destinations': [],
  'infrastructure/config': ['egress-proxy', 'network', 'url'].map((file) => `infrastructure/destinations/${file}.ts`),
  'infrastructure/errors': infrastructure('config'),
  'infrastructure/concurrency': infrastructure('config', 'errors'),
  'infrastructure/metrics': infrastructure('config', 'errors'),
  'infrastructure/validation': infrastructure('config', 'errors'),
  'infrastructure/health': infrastructure('config', 'errors', 'metrics'),
  'infrastructure/database': infrastructure('config', 'errors', 'concurrency', 'health', 'metrics'),
  'infrastructure/pagination': infrastructure('config', 'errors', 'validation', 'database'),
  'infrastructure/queue': infrastructure('config', 'errors', 'concurrency', 'health', 'metrics', 'database'),
  'infrastructure/http': infrastructure('config', 'errors', 'pagination', 'health', 'metrics'),

  // Features.
  auth: USABLE,
  'auth/limits': ['auth', ...USABLE],
  'auth/bearer': ['auth', 'auth/limits', ...USABLE],
  'auth/tokens': ['auth', 'auth/bearer', ...USABLE],
  catalogue: USABLE,
  'catalogue/requests': ['auth', 'catalogue', ...USABLE],
  webhooks: [
    'auth',
    'catalogue',
    'webhooks/filter',
    'webhooks/formats',
    'webhooks/headers',
    'webhooks/secrets',
    'webhooks/stats',
    ...USABLE,
  ],
  'webhooks/filter': [],
  'webhooks/formats': [],
  'webhooks/headers': ['webhooks/secrets', ...USABLE],
  'webhooks/secrets': USABLE,
  'webhooks/stats': ['auth', ...USABLE],
  events: ['auth', 'catalogue', ...USABLE],
  'events/requests': ['auth', 'catalogue', 'events', ...USABLE],

  // The row of a delivery: only this folder inserts, changes or deletes one.
  'deliveries/rows': ['webhooks', 'webhooks/formats', 'webhooks/headers', 'webhooks/stats', ...USABLE],
  deliveries: [
    ...['deliveries/rows', 'webhooks', 'webhooks/formats', 'webhooks/stats', 'auth', 'auth/bearer/credentials.ts'],
    ...USABLE,
  ],
  'deliveries/slots': ['deliveries/rows', ...USABLE],
  'deliveries/notices': ['deliveries/rows', 'events', 'webhooks', 'webhooks/stats', ...USABLE],
  'deliveries/fan-out': ['deliveries/rows', 'deliveries/slots', 'deliveries/sending', 'events', 'webhooks', ...USABLE],
  'deliveries/sending': [
    ...['deliveries', 'deliveries/rows', 'deliveries/slots', 'deliveries/notices', 'events', 'catalogue'],
    ...['webhooks', 'webhooks/formats', 'webhooks/headers', 'webhooks/secrets', 'webhooks/stats'],
    ...USABLE,
  ],
  'deliveries/pulling': [
    ...['deliveries', 'deliveries/rows', 'deliveries/sending', 'events', 'webhooks', 'auth'],
    'auth/limits/user-shares.service.ts',
    ...USABLE,
  ],
  'deliveries/sweeping': ['deliveries', 'deliveries/fan-out', 'deliveries/rows', 'events', ...USABLE],
  'deliveries/retention': ['deliveries/rows', 'webhooks', 'webhooks/stats', ...USABLE],
  'deliveries/log': ['deliveries', 'deliveries/rows', 'events', 'webhooks', 'auth', ...USABLE],
  'deliveries/previews': [
    ...['deliveries/log', 'webhooks', 'webhooks/filter', 'webhooks/formats', 'catalogue', 'auth'],
    ...USABLE,
  ],
  'deliveries/recovery': [
    ...['deliveries', 'deliveries/rows', 'deliveries/log', 'webhooks', 'webhooks/filter', 'auth'],
    ...USABLE,
  ],
  'deliveries/test-deliveries': [
    ...['deliveries', 'deliveries/rows', 'deliveries/log', 'deliveries/sending', 'events', 'catalogue', 'webhooks'],
    ...['webhooks/filter', 'auth'],
    'auth/limits/user-shares.service.ts',
    ...USABLE,
  ],

  console: ['auth', 'deliveries/sending/backoff.ts', ...USABLE],
  'console/sessions': ['auth', 'auth/bearer', 'auth/limits', 'auth/tokens', ...USABLE],
  'console/test-receivers': ['auth', 'webhooks', ...USABLE],

  sources: [],
  'sources/followers': USABLE,
  'sources/followers/providers': ['sources/followers', ...USABLE],
  'sources/followers/readings': [
    ...['sources/followers', 'sources/followers/providers', 'events', 'auth/limits'],
    ...USABLE,
  ],
  'sources/followers/accounts': ['sources/followers', 'sources/followers/readings', 'auth', ...USABLE],
  'sources/job-queues': ['auth', 'catalogue', 'events', ...USABLE],

  erasures: ['auth', 'auth/bearer', 'deliveries', 'deliveries/rows', 'webhooks/secrets', ...USABLE],
};

const FOLDERS = Object.keys(MAY_IMPORT);
const ROLE = `[.](${roles.join('|')})[.]ts$`;
/** Returns a pattern for the files of a folder, or for one file. */
const filesOf = (place) =>
  place.endsWith('.ts') ? `${place.replace('.', '[.]')}$` : `${place}/((dto|migrations)/)?[^/]+$`;
const inSrc = (places) => `^src/(${places.map(filesOf).join('|')})`;
const MODULE = '[.]module[.]ts$';
const CONFIG = 'infrastructure/config/config.ts';
const SPEC = '[.]spec[.]ts$';

const folderRules = FOLDERS.flatMap((folder) => [
  {
    name: `folder-${folder}`,
    comment: `${folder} may import: ${MAY_IMPORT[folder].join(', ') || 'no other folder'}.`,
    severity: 'error',
    from: { path: inSrc([folder]), pathNot: [MODULE, SPEC] },
    to: { path: '^src/', pathNot: inSrc([folder, ...MAY_IMPORT[folder]]) },
  },
  {
    name: `module-${folder}`,
    comment: `The module of ${folder} may import the same folders, its subfolders, Config, and the modules and entities of other folders.`,
    severity: 'error',
    from: { path: `^src/${folder}/[^/]+${MODULE}` },
    to: {
      path: '^src/',
      pathNot: [inSrc([folder, ...MAY_IMPORT[folder], CONFIG]), `^src/${folder}/`, MODULE, '[.]entity[.]ts$'],
    },
  },
]);

/** The folders of the console, lowest first: each may import those before it, and itself. */
const CONSOLE = ['api', 'text', 'parts', 'screens', 'app'];
/** The folders of the package, lowest first, likewise. Its entry points are next to them. */
const PACKAGE = ['events', 'catalogue', 'signature', 'client', 'nest', 'testing'];
const packageRules = PACKAGE.map((folder, i) => ({
  name: `package-${folder}`,
  comment: `packages/webhook-notification/src/${folder} may import: ${PACKAGE.slice(0, i + 1).join(', ')}.`,
  severity: 'error',
  from: { path: `^packages/webhook-notification/src/${folder}/`, pathNot: SPEC },
  to: {
    path: '^(packages|console|src|test)/',
    pathNot: `^packages/webhook-notification/src/(${PACKAGE.slice(0, i + 1).join('|')})/`,
  },
}));
/** The files of the package that run in a browser too, for the console. */
const DIAGNOSIS =
  '^packages/webhook-notification/src/signature/(bytes|standard-key|charset|body-forms|signature-search|diagnosis)[.]ts$';
const diagnosisRules = [
  {
    name: 'diagnosis-without-node',
    comment: 'The console bundles the diagnosis: it imports nothing of Node, and HMAC is injected.',
    severity: 'error',
    from: { path: DIAGNOSIS },
    to: { pathNot: DIAGNOSIS },
  },
  {
    name: 'console-shares-diagnosis',
    comment: 'Of the packages, console/src/api/signature.ts imports the diagnosis, and no other file imports anything.',
    severity: 'error',
    from: { path: '^console/src/api/signature[.]ts$' },
    to: { path: '^packages/', pathNot: DIAGNOSIS },
  },
  {
    name: 'console-without-packages',
    comment: 'Of the packages, console/src/api/signature.ts imports the diagnosis, and no other file imports anything.',
    severity: 'error',
    from: { path: '^console/', pathNot: '^console/src/api/signature[.]ts$' },
    to: { path: '^packages/' },
  },
];
const consoleRules = CONSOLE.map((folder, i) => ({
  name: `console-${folder}`,
  comment: `console/src/${folder} may import: ${CONSOLE.slice(0, i + 1).join(', ')}.`,
  severity: 'error',
  from: { path: `^console/src/${folder}/` },
  to: { path: '^(console|src|test)/', pathNot: `^console/src/(${CONSOLE.slice(0, i + 1).join('|')})/` },
}));

/** True for every module (100 is the highest number allowed), so that a rule can check a file by its name alone. */
const ANY_NUMBER = 100;
const forbiddenName = (name, comment, path, pathNot) => ({
  name,
  comment,
  severity: 'error',
  from: {},
  module: { path, ...(pathNot ? { pathNot } : {}), numberOfDependentsLessThan: ANY_NUMBER },
});

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'A cycle means that two folders belong together, or that a third is missing. Types count too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...folderRules,
    ...consoleRules,
    ...diagnosisRules,
    ...packageRules,
    {
      name: 'package-by-name',
      comment: 'The service uses what the packages export.',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        path: '^packages/',
        pathNot:
          '^packages/(webhook-notification/src/(webhook-notification|catalogue|nest)|embedded-postgres/src/embedded-postgres)[.]ts$',
      },
    },
    {
      name: 'commands-by-name',
      comment: 'The commands of the library use what it exports at its top, and for them.',
      severity: 'error',
      from: { path: '^packages/webhook-notification-cli/' },
      to: {
        path: '^(packages|console|src|test)/',
        pathNot: '^packages/webhook-notification(-cli/|/src/(webhook-notification|cli)[.]ts$)',
      },
    },
    {
      name: 'console-is-apart',
      comment: 'The console is a client of the API: neither imports the other.',
      severity: 'error',
      from: { path: ['^src/', '^test/', '^ormconfig[.]ts$'] },
      to: { path: '^console/' },
    },
    {
      name: 'entity-is-a-row',
      comment: 'An entity imports only entities and pure files, never code that acts on them.',
      severity: 'error',
      from: { path: '[.]entity[.]ts$' },
      to: { path: ROLE, pathNot: '[.]entity[.]ts$' },
    },
    {
      name: 'pure-imports-pure',
      comment: 'A file without a role suffix imports only such files, and at most types from others.',
      severity: 'error',
      from: { path: '^src/.+[.]ts$', pathNot: [ROLE, '[.]spec[.]ts$', ...entryPoints, '[.]d[.]ts$'] },
      to: { path: `^src/.*${ROLE}`, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'src-never-imports-test',
      comment: 'Shipped code imports no tests, and nothing imports a spec.',
      severity: 'error',
      from: { path: ['^src/', '^ormconfig[.]ts$'] },
      to: { path: ['^test/', '[.]spec[.]ts$'] },
    },
    {
      name: 'outside-view',
      comment: 'test/support/api.ts and receiver.ts declare their own wire types: they see the service from outside.',
      severity: 'error',
      from: { path: '^test/support/(api|receiver)[.]ts$' },
      to: { path: ['^src/', '^ormconfig[.]ts$'], reachable: true },
    },
    {
      name: 'no-dev-dependencies',
      comment: 'The image is installed without devDependencies.',
      severity: 'error',
      from: { path: ['^src/', '^ormconfig[.]ts$'], pathNot: '[.]spec[.]ts$' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '^node_modules/@types/' },
    },
    {
      name: 'declared',
      comment: 'package.json must list every imported package.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], pathNot: '^node_modules/@types/' },
    },
    {
      name: 'resolvable',
      comment: 'The import cannot be resolved.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-orphans',
      comment: 'Dead code: the file has no imports and is not imported. (jest.config.cjs names the global files.)',
      severity: 'error',
      from: {
        orphan: true,
        path: ['^src/', '^test/', '^console/src/'],
        pathNot: ['[.](d|spec|migration)[.]c?ts$', '^test/support/global-'],
      },
      to: {},
    },
    forbiddenName('no-barrels', 'Import the file that you mean.', '(^|/)index[.][cm]?[jt]s$', 'node_modules'),
    forbiddenName(
      'no-junk-drawers',
      'Name shared code after its subject, or move it to the lower folder.',
      '^(src|test)/(.*/)?(common|shared|utils?|helpers?|lib|core|misc)/',
    ),
    forbiddenName(
      'known-folders',
      'A new folder requires a line in MAY_IMPORT above (and in docs/architecture.md).',
      '^src/[^/]+/',
      `^src/(commands/[^/]+$|${FOLDERS.map(filesOf).join('|')})`,
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    // Programs for generated clients, which import what the tests generate.
    exclude: { path: '^test/e2e/stage/clients' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'require', 'import', 'default', 'types'],
      mainFields: ['main', 'types'],
    },
    skipAnalysisNotInRules: true,
  },
};
