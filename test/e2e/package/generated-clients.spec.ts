import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describeLong, describeOnline } from '../../support/online';
import { useReceiver } from '../../support/receiver';
import { useServiceProcess } from '../../support/service';
import { describeWhereInstalled } from '../../support/programs';

const DOCUMENT = resolve('openapi.json');
const CLIENTS = resolve('test/e2e/stage/clients');
const TSC = require.resolve('typescript/bin/tsc');
const TSC_OPTIONS = ['--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
/** Go names the constructor of `Webhook` as the document names the body that creates one. */
const GO_NAMES = ['Account', 'ConsoleLink', 'ConsoleSession', 'Event', 'EventType', 'Token', 'Webhook']
  .map((noun) => `New${noun}=${noun}Input`)
  .join();

/** What a client must get from the service, in any language. */
const EXPECTED = {
  pages: [1, 1],
  events: ['order.paid', 'order.paid', 'order.paid'],
  attempts: [1, 1, 1],
  rotated: true,
  recovered: true,
  tested: 200,
  400: { status: 400, code: 'validation_failed', details: expect.arrayContaining(['url', 'events']) },
  401: { status: 401, code: 'unauthenticated', details: [] },
  403: { status: 403, code: 'scope_missing', details: [] },
  404: { status: 404, code: 'not_found', details: [] },
  409: { status: 409, code: 'webhook_limit_reached', details: [] },
  429: { status: 429, code: 'rate_limited', details: [] },
};

jest.setTimeout(600_000);

describe('A client generated from openapi.json', () => {
  const service = useServiceProcess({
    EXTRA_EVENT_TYPES: 'order.paid',
    MAX_WEBHOOKS_PER_USER: '2',
    RATE_LIMIT_PER_MINUTE: '700',
    AUTH_FAILURES_PER_MINUTE: '0',
  });
  const receiver = useReceiver();
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'clients-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function run(command: string, ...options: string[]): string {
    const { status, stdout, stderr } = spawnSync(command, options, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${options.join(' ')}\n${stdout}\n${stderr}`);
    return stdout + stderr;
  }

  /** Generates a client with openapi-generator. */
  const generate = (generator: string, into: string, ...options: string[]) =>
    run('openapi-generator-cli', 'generate', '-g', generator, '-i', DOCUMENT, '-o', into, ...options);

  /** Runs a program that uses a client as a user of its own, and returns what it has printed. */
  async function use(user: string, command: string, ...options: string[]): Promise<unknown> {
    const ofUser = (scopes: string[]) => service.createToken(user, scopes);
    const TOKEN = await ofUser(['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish']);
    const READER = await service.createToken(`${user}-reader`, ['webhooks:read']);
    const environment = {
      URL: service.url,
      RECEIVER: receiver.hook().url,
      TOKEN,
      WEBHOOKS_URL: service.url,
      WEBHOOKS_TOKEN: TOKEN,
      READER,
      PYTHONPATH: join(folder, 'clients/python/src'),
    };
    const child = spawn(command, options, { cwd: folder, env: { ...process.env, ...environment } });
    const seen = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (text: Buffer) => (seen[name] += text));
    const [code] = (await once(child, 'close')) as [number];
    expect({ code, stderr: seen.stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(seen.stdout);
  }

  describeWhereInstalled('openapi-python-client', 'for Python', () => {
    /** The Python that the generator runs on. */
    const python = () => join(dirname(run('sh', '-c', 'command -v openapi-python-client').trim()), 'python');
    beforeEach(() => {
      for (const name of ['package.json', 'openapi.json', 'clients'])
        cpSync(name, join(folder, name), { recursive: true });
      expect(run('npm', 'run', '--silent', 'client:python')).not.toMatch(/warning/i);
    });

    it('does all that an integration needs, and no operation is missing', async () => {
      const verified = EXPECTED.events;
      const used = await use('python', python(), 'clients/python/tests/use_client.py');
      expect(used).toEqual({ ...EXPECTED, verified });
    });

    it('runs the programs of its README', async () => {
      const page = readFileSync('clients/python/README.md', 'utf8');
      for (const [, file = '', code = ''] of page.matchAll(/```python\n# (\S+)\n([^]*?)```/g))
        writeFileSync(join(folder, file), code);
      const token = await service.createToken('readme', ['webhooks:write', 'events:publish']);
      const variables = [`WEBHOOKS_URL=${service.url}`, `WEBHOOKS_TOKEN=${token}`, 'PYTHONPATH=clients/python/src'];
      expect(run('env', ...variables, python(), 'publish.py')).toMatch(/^[0-9a-f-]{36}\n$/);
      const forged = "import receive; print(receive.receive(b'{}', {}, 'a secret'))";
      expect(run('env', ...variables, python(), '-c', forged)).toBe('401\n');
    });

    it('verifies webhooks as its own tests say', () => {
      const pytest = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'clients/python/tests'];
      expect(run('env', 'PYTHONPATH=clients/python/src', python(), ...pytest)).toMatch(/\d+ passed/);
    });

    describeLong('when it is installed', () => {
      it('has its operations', () => {
        run(python(), '-m', 'venv', 'installed');
        run('installed/bin/pip', 'install', '-q', './clients/python');
        const modules = 'import webhook_notification_service.generated.api.webhooks.create_webhook';
        run('installed/bin/python', '-c', modules);
      });
    });
  });

  describeWhereInstalled('openapi-generator-cli', 'for TypeScript', () => {
    it('compiles and does all that an integration needs', async () => {
      generate('typescript-fetch', 'generated', '--additional-properties=importFileExtension=.js');
      copyFileSync(join(CLIENTS, 'use-client.mts'), join(folder, 'use-client.mts'));
      const types = ['--typeRoots', resolve('node_modules/@types')];
      run(process.execPath, TSC, ...TSC_OPTIONS, ...types, '--outDir', 'built', 'use-client.mts');
      expect(await use('typescript', process.execPath, join(folder, 'built/use-client.mjs'))).toEqual(EXPECTED);
    });
  });

  describeOnline('for Go with oapi-codegen', () => {
    describeWhereInstalled('go', 'as docs/clients.md has it', () => {
      it('compiles and runs', async () => {
        const page = readFileSync('docs/clients.md', 'utf8');
        const [, commands = ''] = /```sh\n(go mod init[^]*?)```/.exec(page) ?? [];
        const [, program = ''] = /```go\n([^]*?)```/.exec(page) ?? [];
        copyFileSync(DOCUMENT, join(folder, 'openapi.json'));
        writeFileSync(join(folder, 'main.go'), program);
        run('sh', '-ec', commands);
        expect(await use('go', 'go', 'run', '.')).toEqual({
          webhook: expect.any(String),
          event: 'job.started',
          pages: [1],
        });
      });
    });
  });

  describeLong('for Go and Java with openapi-generator', () => {
    it('compiles', () => {
      generate('go', 'go', '--model-name-mappings', GO_NAMES);
      rmSync(join(folder, 'go/test'), { recursive: true });
      run('sh', '-c', 'cd go && go build ./...');
      generate('java', 'java');
      run('sh', '-c', 'cd java && mvn -q compile');
    });
  });
});

describeLong('openapi.json', () => {
  it('has no findings of redocly and spectral, except that health routes return no 4xx', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lint-'));
    writeFileSync(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n');
    const lint = (...options: string[]) => {
      const { status, stdout } = spawnSync('npx', ['--yes', ...options], { cwd: folder, encoding: 'utf8' });
      return { status, findings: status === 0 ? '' : stdout };
    };
    const redocly = ['@redocly/cli@2.77.0', 'lint', DOCUMENT, '--extends=recommended', '--max-problems=0'];
    expect(lint(...redocly, '--skip-rule=operation-4xx-response')).toEqual({ status: 0, findings: '' });
    const spectral = ['@stoplight/spectral-cli@6.16.3', 'lint', DOCUMENT, '--fail-severity=hint'];
    expect(lint(...spectral)).toEqual({ status: 0, findings: '' });
    rmSync(folder, { recursive: true });
  });
});
