// swc compiles our sources, and to CommonJS the ES modules that jest cannot `require` on Node 20: Nest 12 and a few of its
// dependencies. Types are checked by `npm run types`.
const esmPackages = [
  '@nestjs',
  'platform-express',
  '@borewit',
  '@tokenizer',
  'file-type',
  'strtok3',
  'token-types',
  'uint8array-extras',
  'load-esm',
  'set-cookie-parser',
  'toad-cache',
  'cookie',
  'content-disposition',
  'uuid',
  'jose',
  'p-limit',
  'yocto-queue',
];

const compiled = (parser) => ({
  module: { type: 'commonjs' },
  jsc: { target: 'es2023', parser, transform: { legacyDecorator: true, decoratorMetadata: true } },
});

const base = {
  // The build holds a second package.json.
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/packages/[^/]+/dist/'],
  testEnvironment: '<rootDir>/test/support/environment.cjs',
  transform: {
    '^.+\\.tsx?$': ['@swc/jest', compiled({ syntax: 'typescript', decorators: true })],
    'node_modules/.+\\.m?js$': ['@swc/jest', compiled({ syntax: 'ecmascript' })],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages.join('|')})/)`],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // The sources: tests of parts need no build.
    '^@webhook-notification/embedded-postgres$': '<rootDir>/packages/embedded-postgres/src/embedded-postgres.ts',
    '^webhook-notification$': '<rootDir>/packages/webhook-notification/src/webhook-notification.ts',
    '^webhook-notification/(catalogue|cli|nest.*|testing)$': '<rootDir>/packages/webhook-notification/src/$1.ts',
  },
};

/** LONG=1 lets any long file run; FAULTS=long those of faults but for the soak, up to 20 minutes per store. */
function ignoredFiles() {
  if (process.env.LONG === '1') return [];
  return process.env.FAULTS === 'long' ? ['/soak\\.', '/e2e/.*\\.long\\.'] : ['\\.long\\.spec\\.ts$'];
}

/** Tests that need a PostgreSQL: one for the whole run, and a database of its own for each file. */
const withDatabase = (folder) => ({
  ...base,
  displayName: folder,
  testMatch: [`<rootDir>/test/${folder}/**/*.spec.ts`],
  testPathIgnorePatterns: ignoredFiles(),
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
});

module.exports = {
  // Only a hung test reaches it. Many tests start whole processes, and a busy machine takes seconds for each.
  testTimeout: 600_000,
  ...(process.env.TESTS && { filter: '<rootDir>/test/support/selection.cjs' }),
  reporters: ['default', '<rootDir>/test/support/run-reporter.cjs'],
  testSequencer: '<rootDir>/test/support/sequencer.cjs',
  projects: [
    { ...base, displayName: 'unit', testMatch: ['<rootDir>/{src,packages/*/src,console/src}/**/*.spec.ts'] },
    withDatabase('integration'),
    withDatabase('contract'),
    withDatabase('e2e'),
    withDatabase('browser'),
    withDatabase('faults'),
  ],
};
