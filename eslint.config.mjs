// Project rules that a tool can check. Every one is an error, because warnings are ignored.
import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import ts from 'typescript-eslint';
import names from './scripts/roles.cjs';

const TYPESCRIPT = [
  ...['src/**/*.ts', 'test/**/*.ts', 'ormconfig.ts'],
  ...['console/src/**/*.{ts,tsx}', 'packages/*/src/**/*.ts', 'examples/*/src/**/*.ts'],
];
const SPECS = ['src/**/*.spec.ts', 'packages/*/src/**/*.spec.ts', 'test/**/*.ts'];
const WITH_ROLE = names.roles.map((role) => `src/**/*.${role}.ts`);
const PURE_EXCEPTIONS = [...WITH_ROLE, ...names.entryPoints, 'src/**/*.spec.ts', 'src/**/*.d.ts'];

// ESLint does not merge the options of a rule that two blocks set, so the lists are composed here and each block below
// states its whole list.

/** Applies to all shipped code except src/infrastructure/config. */
const environment = {
  properties: [
    {
      object: 'process',
      property: 'env',
      message: 'Settings come from Config; only src/infrastructure/config reads process.env.',
    },
  ],
  syntax: [
    {
      selector: "MemberExpression[property.name='env'][object.property.name='process']",
      message: 'Settings come from Config.',
    },
  ],
};

/** Applies to all shipped code. */
const shipped = {
  globals: [{ name: 'fetch', message: 'undici.request through the bounded client: fetch costs five times the CPU.' }],
  syntax: [
    { selector: "Property[key.name='synchronize']", message: 'Migrations only: synchronize does not exist here.' },
    {
      selector: "MemberExpression[object.name='URL'][property.name='canParse']",
      message: 'urlOf: on Node 20 canParse returns false for valid URLs once V8 has optimized the calls.',
    },
  ],
  paths: [
    { name: '@nestjs/common', importNames: ['forwardRef'], message: 'A forwardRef is a circle: cut it instead.' },
    { name: 'undici', importNames: ['fetch'], message: 'undici.request through the bounded client.' },
  ],
  patterns: [
    {
      regex: '^(node:)?process$',
      message: 'Use the global process, and process.env only in src/infrastructure/config.',
    },
  ],
};

const impure = 'A file without a role suffix is pure:';
const FRAMEWORKS = '^(@nestjs|@fastify|fastify|typeorm|bullmq|ioredis|pg|undici|passport[a-z-]*)(\\x2F|$)';
// A pure file may name the types of plain options from these. The type of a handle (EntityManager, Job, Dispatcher)
// would let it act through a handle that it receives.
const FRAMEWORK_TYPES = [
  'ImportSpecifier[imported.name!=/Options$/]',
  'ImportDefaultSpecifier',
  'ImportNamespaceSpecifier',
];
/** Applies also to files without a role suffix: no framework, network, clock or randomness of their own. */
const pure = {
  properties: [
    { object: 'Date', property: 'now', message: `${impure} take the time as an argument.` },
    { object: 'Math', property: 'random', message: `${impure} take the random number as an argument.` },
  ],
  globals: [
    { name: 'performance', message: `${impure} take the time as an argument.` },
    ...['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({ name, message: `${impure} no timers.` })),
    { name: 'crypto', message: `${impure} node:crypto by name, without its randomness.` },
    ...['WebSocket', 'EventSource', 'XMLHttpRequest'].map((name) => ({ name, message: `${impure} no network.` })),
  ],
  syntax: [
    {
      selector: "NewExpression[callee.name='Date'][arguments.length=0]",
      message: `${impure} take the time as an argument.`,
    },
    { selector: "CallExpression[callee.name='Date']", message: `${impure} take the time as an argument.` },
    {
      selector: 'CallExpression[callee.name=/^(v7|uuidv7|uuidV7)$/][arguments.length=0]',
      message: `${impure} give v7 its msecs and random.`,
    },
    { selector: 'ImportExpression', message: `${impure} no dynamic import.` },
    ...FRAMEWORK_TYPES.map((specifier) => ({
      selector: `ImportDeclaration[source.value=/${FRAMEWORKS}/] > ${specifier}`,
      message: `${impure} of a framework at most the type of plain options.`,
    })),
    { selector: "MemberExpression[object.name='process'][property.name!='env']", message: `${impure} no process.` },
  ],
  paths: [
    // `default` too: `import crypto from 'node:crypto'` would make everything accessible.
    {
      name: 'node:crypto',
      importNames: [
        'default',
        'randomUUID',
        'randomUUIDv7',
        'randomBytes',
        'randomInt',
        'randomFill',
        'randomFillSync',
        'getRandomValues',
        'webcrypto',
        'generateKey',
        'generateKeySync',
        'generateKeyPair',
        'generateKeyPairSync',
        'generatePrime',
        'generatePrimeSync',
      ],
      message: `${impure} take random bytes as an argument.`,
    },
    {
      name: 'node:net',
      allowImportNames: ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress'],
      allowTypeImports: true,
      message: `${impure} of node:net only the address functions.`,
    },
    {
      name: 'uuid',
      importNames: ['default', 'v1', 'v4', 'v6'],
      message: `${impure} of uuid v5, v7 with its options, parse, stringify, validate, version.`,
    },
  ],
  patterns: [
    {
      regex: FRAMEWORKS,
      allowTypeImports: true,
      message: `${impure} no framework, database, queue or HTTP client.`,
    },
    {
      regex:
        '^(node:)?(http|https|http2|dns|tls|dgram|fs|os|child_process|cluster|worker_threads|async_hooks|perf_hooks|timers|readline|inspector|v8|vm)(/|$)',
      allowTypeImports: true,
      message: `${impure} no network, files, processes or timers.`,
    },
    { regex: '^(crypto|net)$', message: 'Write node:crypto, node:net.' },
  ],
};

/** Applies to the files that the console bundles. */
const inBrowsers = {
  globals: [{ name: 'Buffer', message: 'Browsers have none: use Uint8Array and bytes.ts.' }],
};

const rulesFor = (...layers) => {
  const join = (list) => layers.flatMap((layer) => layer[list] ?? []);
  const properties = join('properties');
  return {
    // Without options, the entry would keep those of the block before it.
    'no-restricted-properties': properties.length > 0 ? ['error', ...properties] : 'off',
    'no-restricted-globals': ['error', { globals: join('globals'), checkGlobalObject: true }],
    'no-restricted-syntax': ['error', ...join('syntax')],
    '@typescript-eslint/no-restricted-imports': ['error', { paths: join('paths'), patterns: join('patterns') }],
  };
};

const sleeps = 'Nothing sleeps a fixed time: use waitFor.';
const inPromise = "NewExpression[callee.name='Promise'] CallExpression[callee.name='setTimeout']";
const RUNNERS = '/^(it|test|describe)$/';
const focused = 'A focused test hides all others.';
// Only test/support decides which tests a machine cannot run; a spec never skips a test.
const skipped = 'Tests are not switched off; what a machine lacks is asked in test/support.';
const switches = (word, message) => [
  {
    selector: `MemberExpression[object.name=${RUNNERS}]:matches([property.name='${word}'], [property.value='${word}'])`,
    message,
  },
  { selector: `MemberExpression[object.object.name=${RUNNERS}][property.name='${word}']`, message },
];
const noFocus = switches('only', focused);
const noSkip = ['skip', 'todo', 'failing'].flatMap((word) => switches(word, skipped));
const focusedGlobals = ['fit', 'fdescribe'].map((name) => ({ name, message: focused }));
const skippedGlobals = ['xit', 'xtest', 'xdescribe'].map((name) => ({ name, message: skipped }));
const noSleep = [
  { selector: `${inPromise}[arguments.0.type='Identifier'][arguments.0.name!=/^(reject|fail)/]`, message: sleeps },
  {
    selector: `${inPromise} > ArrowFunctionExpression > CallExpression.body[callee.name=/^(r|res|resolve|done|ok)$/]`,
    message: sleeps,
  },
  { selector: "CallExpression[callee.name='promisify'][arguments.0.name='setTimeout']", message: sleeps },
  { selector: 'AwaitExpression > CallExpression[callee.name=/^(sleep|delay|pause)$/]', message: sleeps },
];

const late =
  'A busy machine is late. Wait for an event, count, or use cpuMsOf; where the time is a promise, disable this and say which.';
const HOOKS = '/^(it|test|beforeAll|beforeEach|afterAll|afterEach)$/';
/** Shorter than the patience of `waitFor`, and than jest's own. */
const noBoundInTime = [
  `CallExpression[callee.name='waitFor'] > ObjectExpression > Property[key.name='timeoutMs']:not([value.value>180000])`,
  ...[
    `[callee.name=${HOOKS}]`,
    `[callee.callee.object.name=${HOOKS}]`,
    "[callee.object.name='jest'][callee.property.name='setTimeout']",
  ].map((callee) => `CallExpression${callee} > Literal[value<300000]`),
  ...[
    "BinaryExpression[operator='-'][left.callee.property.name='now']",
    'Identifier[name=/^(duration|took|elapsed|late|latest)Ms$/]',
    "MemberExpression[property.name='durationMs']",
  ].map(
    (measured) =>
      `CallExpression[callee.property.name=/^toBeLessThan/] CallExpression[callee.name='expect'] > ${measured}`,
  ),
].map((selector) => ({ selector, message: late }));

// The page shows texts from other people, none of which may become markup.
const asText = 'Texts are shown as text nodes.';
const markup = ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'srcdoc', 'write', 'parseFromString'].map(
  (property) => ({
    property,
    message: asText,
  }),
);
const markupSyntax = [
  { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: asText },
  { selector: "Property[key.name='dangerouslySetInnerHTML']", message: asText },
  { selector: "JSXAttribute[name.name='href'] > Literal[value=/^javascript:/i]", message: asText },
];

// An unencoded value in a URL can send a request, with its token, elsewhere.
const asAddress = 'A value becomes part of an address by encoded`…` or queryOf, of console/src/api/address.ts.';
const ENDS_IN_ADDRESS = '(\\x2F|[?&][^=]*=?)$';
const addressSyntax = [
  `:not(TaggedTemplateExpression) > TemplateLiteral > TemplateElement[tail=false][value.raw=/${ENDS_IN_ADDRESS}/]`,
  `BinaryExpression[operator='+'] > Literal[value=/${ENDS_IN_ADDRESS}/]`,
  "CallExpression[callee.property.name='join'] > Literal[value='/']",
].map((selector) => ({ selector, message: asAddress }));

const house = {
  rules: {
    /** Requires a reason for every disabled rule: `// eslint-disable-next-line no-console -- why`. */
    'explained-disable': {
      create: (context) => ({
        Program() {
          for (const { type, value, loc } of context.sourceCode.getAllComments()) {
            const switchesOff = /^\s*eslint-disable/.test(value) || (type === 'Block' && /^\s*eslint\s/.test(value));
            if (!switchesOff || /\s--\s+\S/.test(value)) continue;
            const message = `Line ${loc.start.line} switches a rule off: say why after " -- ", or do not.`;
            // Reported above the first line, because a bare eslint-disable would silence this report as well.
            context.report({ loc: { line: 0, column: 0 }, message });
          }
        },
      }),
    },
  },
};

export default defineConfig(
  {
    ignores: [
      'dist/',
      'packages/*/dist/',
      'examples/*/dist/',
      'examples/*/node_modules/',
      'node_modules/',
      'coverage/',
      '.data/',
      // Applications that tests build elsewhere, with other versions of Nest.
      'test/e2e/stage/clients/',
      '**/openapi.d.ts',
      '**/openapi.gen.ts',
    ],
  },
  {
    plugins: { house },
    linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' },
    rules: { 'house/explained-disable': 'error' },
  },
  js.configs.recommended,
  {
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-params': ['error', { max: 7 }],
    },
  },

  {
    files: ['**/*.mjs', '**/*.cjs', '**/*.js'],
    languageOptions: {
      globals: Object.fromEntries(
        (
          'process console Buffer URL URLSearchParams AbortController AbortSignal TextDecoder TextEncoder performance fetch ' +
          'setTimeout clearTimeout setInterval clearInterval setImmediate queueMicrotask structuredClone'
        )
          .split(' ')
          .map((name) => [name, 'readonly']),
      ),
    },
  },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs' } },

  {
    files: TYPESCRIPT,
    extends: [ts.configs.recommended],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': ['error', { fixToUnknown: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // Off: `import type` of a class in a decorated constructor would remove it from emitDecoratorMetadata, and Nest
      // would inject Object.
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },

  {
    files: ['src/**/*.ts', 'ormconfig.ts', 'packages/*/src/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      ...rulesFor(shipped, environment),
      'no-console': 'error',
      // Guides: a file that tells one story, or a function that is a list, may be longer where a comment says why.
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 80, IIFEs: true }],
      // `any` from outside (JSON.parse, the rows of a query) must get a type before it is used.
      '@typescript-eslint/no-unsafe-argument': 'error',
      '@typescript-eslint/no-unsafe-assignment': 'error',
      '@typescript-eslint/no-unsafe-call': 'error',
      '@typescript-eslint/no-unsafe-member-access': 'error',
      '@typescript-eslint/no-unsafe-return': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
    },
  },
  // The library must not add an HTTP client to an application.
  { files: ['packages/*/src/**/*.ts'], rules: rulesFor(environment) },
  // A program of its own.
  { files: ['packages/*/src/command.ts'], rules: rulesFor({}) },
  {
    files: ['packages/*/src/signature/{bytes,standard-key,charset,body-forms,signature-search,diagnosis}.ts'],
    rules: rulesFor(environment, inBrowsers),
  },
  { files: ['src/main.ts', 'src/**/*.command.ts', 'src/**/*.setup.ts'], rules: { 'no-console': 'off' } },
  { files: ['src/infrastructure/config/**/*.ts'], ignores: ['src/**/*.spec.ts'], rules: rulesFor(shipped) },
  { files: ['src/**/*.ts'], ignores: PURE_EXCEPTIONS, rules: rulesFor(shipped, environment, pure) },
  { files: ['src/infrastructure/config/**/*.ts'], ignores: PURE_EXCEPTIONS, rules: rulesFor(shipped, pure) },

  {
    files: ['console/src/**/*.{ts,tsx}'],
    rules: {
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 120, IIFEs: true }],
      'no-console': 'error',
      'no-restricted-properties': ['error', ...markup],
      'no-restricted-syntax': ['error', ...markupSyntax, ...addressSyntax],
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: 'Requests are made by Api, of console/src/api/call.ts.' },
      ],
    },
  },
  { files: ['console/src/api/{address,base}.ts'], rules: { 'no-restricted-syntax': ['error', ...markupSyntax] } },
  { files: ['console/src/api/call.ts'], rules: { 'no-restricted-globals': 'off' } },
  // All texts are in one file.
  { files: ['console/src/text/*.ts'], rules: { 'max-lines': 'off' } },

  {
    files: SPECS,
    rules: {
      'max-lines': ['error', { max: 500 }],
      'no-restricted-globals': ['error', ...focusedGlobals],
      'no-restricted-syntax': ['error', ...noFocus],
    },
  },
  {
    files: ['**/*.spec.ts'],
    rules: {
      'no-restricted-globals': ['error', ...focusedGlobals, ...skippedGlobals],
      'no-restricted-syntax': ['error', ...noFocus, ...noSkip, ...noSleep, ...noBoundInTime],
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^(node:)?timers/promises$', message: sleeps }] },
      ],
    },
  },
  {
    // The test runner handles the return values of describe and it of node:test.
    files: ['examples/*/src/*.spec.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: ['describe', 'it'], package: 'node:test' }] },
      ],
    },
  },
  {
    files: ['src/**/*.spec.ts'],
    rules: { 'no-restricted-properties': ['error', ...environment.properties] },
  },
);
