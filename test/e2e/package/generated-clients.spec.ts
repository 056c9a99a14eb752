import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describeLong } from '../../support/online';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { describeWhereInstalled } from '../stage/languages';

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
  const service = useService({
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
    const environment = { URL: service.url, RECEIVER: receiver.hook().url, TOKEN, READER, PYTHONPATH: folder };
    const child = spawn(command, options, { cwd: folder, env: { ...process.env, ...environment } });
    const seen = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (text: Buffer) => (seen[name] += text));
    const [code] = (await once(child, 'close')) as [number];
    expect({ code, stderr: seen.stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(seen.stdout);
  }

  describeWhereInstalled('openapi-python-client', 'for Python', () => {
    it('does all that an integration needs, and no operation is missing', async () => {
      const generated = ['generate', '--path', DOCUMENT, '--output-path', join(folder, 'generated')];
      expect(run('openapi-python-client', ...generated)).not.toMatch(/warning/i);
      const python = join(dirname(run('sh', '-c', 'command -v openapi-python-client').trim()), 'python');
      run('mv', join(folder, 'generated/webhook_notification_service_client'), folder);
      expect(await use('python', python, join(CLIENTS, 'use_client.py'))).toEqual(EXPECTED);
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

  describeLong('for Go and Java', () => {
    it('compiles, also with oapi-codegen', () => {
      generate('go', 'go', '--model-name-mappings', GO_NAMES);
      rmSync(join(folder, 'go/test'), { recursive: true });
      run('sh', '-c', 'cd go && go build ./...');
      generate('java', 'java');
      run('sh', '-c', 'cd java && mvn -q compile');
      run('sh', '-c', 'mkdir oapi && cd oapi && go mod init oapi');
      const codegen = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
      run('sh', '-c', `cd oapi && go run ${codegen} -package api -generate types,client ${DOCUMENT} > api.go`);
      run('sh', '-c', 'cd oapi && go mod tidy && go build ./...');
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
