// Data flows down one corridor and nobody looks up: the table of rooms, as rules. `npm run depcruise` holds it.

const roles = require('./scripts/roles.cjs');

const CATALOGUE = 'events/(?:catalogue|event-name)[^/]*[.]ts$';
const SIGNING = 'deliveries/sign[.]ts$';
const PLUMBING = 'config database queue destinations errors validation pagination health metrics http embedded'.split(
  ' ',
);

/**
 * What a room may import besides itself; what is not written here is forbidden. `embedded` is for main.ts, ormconfig.ts
 * and the commands: nobody else knows of it.
 */
const USABLE = PLUMBING.filter((room) => room !== 'embedded');
const MAY_IMPORT = {
  // Plumbing, lowest first: each line may use lines above it, never below.
  config: [],
  embedded: [],
  errors: ['config'],
  metrics: ['config', 'errors'],
  validation: ['config', 'errors'],
  pagination: ['config', 'errors', 'validation'],
  health: ['config', 'errors', 'metrics'],
  database: ['config', 'errors', 'pagination', 'health', 'metrics'],
  queue: ['config', 'errors', 'health', 'metrics', 'database'],
  destinations: ['config', 'errors', 'health', 'metrics'],
  http: ['config', 'errors', 'pagination', 'health', 'metrics'],
  // The corridor.
  auth: USABLE,
  webhooks: ['auth', CATALOGUE, ...USABLE],
  events: ['auth', ...USABLE],
  deliveries: ['auth', 'webhooks', 'events', ...USABLE],
  sources: ['auth', 'events', ...USABLE],
  // A library for receivers: it must not drag the service in.
  receiver: [SIGNING],
};

const NAMES = new Map([
  [CATALOGUE, 'the event catalogue'],
  [SIGNING, 'how to sign'],
]);
const ROOMS = Object.keys(MAY_IMPORT);
const ROLE = `[.](${roles.join('|')})[.]ts$`;
/** Entry points of their own: like main.ts they may import anything. */
const COMMAND = '[.]command[.]ts$';
const inSrc = (places) => `^src/(${places.map((place) => (place.endsWith('$') ? place : `${place}/`)).join('|')})`;

const roomRules = ROOMS.map((room) => ({
  name: `room-${room}`,
  comment: `${room} may import: ${MAY_IMPORT[room].map((place) => NAMES.get(place) ?? place).join(', ') || 'no other room'}.`,
  severity: 'error',
  from: { path: `^src/${room}/`, pathNot: COMMAND },
  to: { path: '^src/', pathNot: inSrc([room, ...MAY_IMPORT[room]]) },
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
      from: { path: '^src/.+[.]ts$', pathNot: [ROLE, '[.]spec[.]ts$', '^src/main[.]ts$', '[.]d[.]ts$'] },
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
        path: ['^src/', '^test/'],
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
      `^src/(${ROOMS.join('|')})/`,
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
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
