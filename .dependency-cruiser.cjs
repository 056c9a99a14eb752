// Data flows down one corridor and nobody looks up: the table of rooms, as rules. `npm run depcruise` holds it.

const { entryPoints, roles } = require('./scripts/roles.cjs');

const PLUMBING = 'config timers errors metrics validation health database pagination queue destinations http'.split(
  ' ',
);
/** What the rooms of the corridor may use of the plumbing: all of it but `embedded`. */
const USABLE = PLUMBING.map((room) => `plumbing/${room}`);
const plumbing = (...rooms) => rooms.map((room) => `plumbing/${room}`);

/**
 * What a room may import besides itself; what is not written here is forbidden. A room is a folder, without the folders
 * in it except `dto` and `migrations`. A wing is a folder with rooms in it: its own line is about the files that lie
 * directly in it, which all of its rooms may use. Its module wires its rooms, and may import all of them.
 */
const MAY_IMPORT = {
  // Plumbing, lowest first: each line uses lines above it, never below.
  'plumbing/config': [],
  'plumbing/timers': [],
  'plumbing/embedded': [],
  'plumbing/errors': plumbing('config'),
  'plumbing/metrics': plumbing('config', 'errors'),
  'plumbing/validation': plumbing('config', 'errors'),
  'plumbing/health': plumbing('config', 'errors', 'metrics'),
  'plumbing/database': plumbing('config', 'timers', 'errors', 'health', 'metrics'),
  'plumbing/pagination': plumbing('config', 'errors', 'validation', 'database'),
  'plumbing/queue': plumbing('config', 'errors', 'health', 'metrics', 'database'),
  'plumbing/destinations': plumbing('config', 'errors', 'health', 'metrics'),
  'plumbing/http': plumbing('config', 'errors', 'pagination', 'health', 'metrics'),

  // The corridor.
  auth: USABLE,
  'auth/limits': ['auth', ...USABLE],
  'auth/bearer': ['auth', 'auth/limits', ...USABLE],
  'auth/tokens': ['auth', 'auth/bearer', ...USABLE],
  'auth/sessions': ['auth', 'auth/bearer', 'auth/limits', 'auth/tokens', ...USABLE],
  catalogue: USABLE,
  'catalogue/requests': ['auth', 'catalogue', ...USABLE],
  webhooks: ['auth', 'catalogue', 'webhooks/secrets', 'webhooks/stats', ...USABLE],
  'webhooks/secrets': USABLE,
  'webhooks/stats': ['auth', ...USABLE],
  events: ['auth', 'catalogue', ...USABLE],
  'events/requests': ['auth', 'catalogue', 'events', ...USABLE],

  deliveries: ['webhooks', 'webhooks/stats', ...USABLE],
  'deliveries/slots': ['deliveries', ...USABLE],
  'deliveries/fan-out': ['deliveries', 'deliveries/slots', 'deliveries/sending', 'events', 'webhooks', ...USABLE],
  'deliveries/sending': [
    ...['deliveries', 'deliveries/slots', 'events', 'webhooks', 'webhooks/secrets', 'webhooks/stats'],
    ...USABLE,
  ],
  'deliveries/sweeping': ['deliveries', 'events', ...USABLE],
  'deliveries/retention': USABLE,
  'deliveries/log': ['deliveries', 'events', 'webhooks', 'auth', 'auth/bearer/credentials.ts', ...USABLE],
  'deliveries/recovery': ['deliveries', 'deliveries/log', 'deliveries/retention', 'webhooks', 'auth', ...USABLE],
  'deliveries/trial': [
    ...['deliveries', 'deliveries/log', 'deliveries/sending', 'events', 'catalogue', 'webhooks', 'auth'],
    ...USABLE,
  ],

  console: USABLE,
  'try-receivers': ['auth', ...USABLE],
  about: ['auth', 'deliveries/sending/backoff.ts', ...USABLE],

  sources: [],
  'sources/followers': USABLE,
  'sources/followers/providers': ['sources/followers', ...USABLE],
  'sources/followers/readings': [
    ...['sources/followers', 'sources/followers/providers', 'events', 'auth/limits'],
    ...USABLE,
  ],
  'sources/followers/accounts': ['sources/followers', 'sources/followers/readings', 'auth', ...USABLE],
  'sources/job-queues': ['auth', 'catalogue', 'events', ...USABLE],
};

const ROOMS = Object.keys(MAY_IMPORT);
const ROLE = `[.](${roles.join('|')})[.]ts$`;
/** The files of a room, or one file. */
const filesOf = (place) =>
  place.endsWith('.ts') ? `${place.replace('.', '[.]')}$` : `${place}/((dto|migrations)/)?[^/]+$`;
const inSrc = (places) => `^src/(${places.map(filesOf).join('|')})`;
const MODULE = '[.]module[.]ts$';
const SPEC = '[.]spec[.]ts$';

const roomRules = ROOMS.flatMap((room) => [
  {
    name: `room-${room}`,
    comment: `${room} may import: ${MAY_IMPORT[room].join(', ') || 'no other room'}.`,
    severity: 'error',
    from: { path: inSrc([room]), pathNot: [MODULE, SPEC] },
    to: { path: '^src/', pathNot: inSrc([room, ...MAY_IMPORT[room]]) },
  },
  {
    name: `module-${room}`,
    comment: `The module of ${room} may import what the room may, its rooms, and the modules and entities of others.`,
    severity: 'error',
    from: { path: `^src/${room}/[^/]+${MODULE}` },
    to: { path: '^src/', pathNot: [inSrc([room, ...MAY_IMPORT[room]]), `^src/${room}/`, MODULE, '[.]entity[.]ts$'] },
  },
]);

/** The folders of the console, lowest first: each may import what stands before it, and itself. */
const CONSOLE = ['api', 'text', 'parts', 'screens', 'app'];
/** The folders of the package, lowest first, likewise. Its entry points lie beside them. */
const PACKAGE = ['events', 'catalogue', 'signature', 'client', 'nest', 'testing', 'command'];
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
const consoleRules = CONSOLE.map((folder, i) => ({
  name: `console-${folder}`,
  comment: `console/src/${folder} may import: ${CONSOLE.slice(0, i + 1).join(', ')}.`,
  severity: 'error',
  from: { path: `^console/src/${folder}/` },
  to: { path: '^(console|src|test)/', pathNot: `^console/src/(${CONSOLE.slice(0, i + 1).join('|')})/` },
}));

/** True of every module (100 is the highest number allowed): the condition that lets a rule judge a file by its name alone. */
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
      comment: 'A circle means that two rooms are one, or that a third is missing. Types count too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...roomRules,
    ...consoleRules,
    ...packageRules,
    {
      name: 'package-by-name',
      comment: 'The service uses what the package exports.',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        path: '^packages/',
        pathNot: '^packages/webhook-notification/src/(webhook-notification|catalogue|nest)[.]ts$',
      },
    },
    {
      name: 'console-is-apart',
      comment: 'The console is a client of the API: neither is built into the other.',
      severity: 'error',
      from: { path: ['^src/', '^test/', '^ormconfig[.]ts$'] },
      to: { path: '^console/' },
    },
    {
      name: 'entity-is-a-row',
      comment: 'An entity imports entities and pure files, never what acts on them.',
      severity: 'error',
      from: { path: '[.]entity[.]ts$' },
      to: { path: ROLE, pathNot: '[.]entity[.]ts$' },
    },
    {
      name: 'pure-imports-pure',
      comment: 'A file without a role suffix imports only such files; of the others at most a type.',
      severity: 'error',
      from: { path: '^src/.+[.]ts$', pathNot: [ROLE, '[.]spec[.]ts$', ...entryPoints, '[.]d[.]ts$'] },
      to: { path: `^src/.*${ROLE}`, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'src-never-imports-test',
      comment: 'What ships knows no tests, and nothing imports a spec.',
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
      comment: 'Every imported package stands in package.json.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], pathNot: '^node_modules/@types/' },
    },
    {
      name: 'resolvable',
      comment: 'The import leads nowhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-orphans',
      comment: 'Nobody imports it and it imports nothing: dead code. (jest.config.cjs names the global files.)',
      severity: 'error',
      from: {
        orphan: true,
        path: ['^src/', '^test/', '^console/src/'],
        pathNot: ['[.](d|spec|migration)[.]ts$', '^test/support/global-'],
      },
      to: {},
    },
    forbiddenName('no-barrels', 'Import the file that you mean.', '(^|/)index[.][cm]?[jt]s$', 'node_modules'),
    forbiddenName(
      'no-junk-drawers',
      'Shared code finds its noun or lives in the lower room.',
      '^(src|test)/(.*/)?(common|shared|utils?|helpers?|lib|core|misc)/',
    ),
    forbiddenName(
      'known-rooms',
      'A new room needs its line in MAY_IMPORT above (and in docs/architecture.md).',
      '^src/[^/]+/',
      `^src/(commands/[^/]+$|${ROOMS.map(filesOf).join('|')})`,
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'require', 'import', 'default', 'types'],
      mainFields: ['main', 'types'],
    },
    skipAnalysisNotInRules: true,
  },
};
