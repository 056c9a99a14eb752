// Nest 12 and a few of its dependencies are ES modules only, which jest cannot `require` on Node 20:
// these are compiled to CommonJS by swc, everything of ours by ts-jest.
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
  'svix',
];

const base = {
  // The build holds a second package.json.
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/packages/[^/]+/dist/'],
  testEnvironment: 'node',
  transform: {
    '^.+\\.ts$': ['ts-jest', { tsconfig: { ...require('./tsconfig.json').compilerOptions, isolatedModules: true } }],
    'node_modules/.+\\.m?js$': ['@swc/jest', { module: { type: 'commonjs' }, jsc: { target: 'es2023' } }],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages.join('|')})/)`],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // The sources: tests of parts need no build.
    '^@webhook-notification/embedded-postgres$': '<rootDir>/packages/embedded-postgres/src/embedded-postgres.ts',
    '^webhook-notification$': '<rootDir>/packages/webhook-notification/src/webhook-notification.ts',
    '^webhook-notification/(catalogue|nest.*|testing)$': '<rootDir>/packages/webhook-notification/src/$1.ts',
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
  testTimeout: 300_000,
  ...(process.env.TESTS && { filter: '<rootDir>/test/support/selection.cjs' }),
  reporters: ['default', '<rootDir>/test/support/count-reporter.cjs'],
  projects: [
    { ...base, displayName: 'unit', testMatch: ['<rootDir>/{src,packages/*/src,console/src}/**/*.spec.ts'] },
    withDatabase('integration'),
    withDatabase('e2e'),
    withDatabase('browser'),
    withDatabase('faults'),
  ],
};
