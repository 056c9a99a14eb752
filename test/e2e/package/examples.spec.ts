import {
  type ChildProcess,
  execFileSync,
  type ExecFileSyncOptionsWithStringEncoding,
  spawnSync,
} from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifySignature } from 'webhook-notification';
import { type CreatedWebhook, dataOf } from '../../support/api';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { type Hook, useReceiver } from '../../support/receiver';
import {
  capture,
  endProcess,
  freePort,
  hasExited,
  type Settings,
  spawnFile,
  useServiceProcess,
} from '../../support/service';
import { PATIENCE_MS, waitFor } from '../../support/wait-for';
import { subscribe } from '../stage/steps';

const ROOT = join(__dirname, '../../..');
const PACKAGE = join(ROOT, 'packages/webhook-notification');

interface Manifest {
  version: string;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}
const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** Each example as somebody who has copied it runs it: with the packed library, and nothing that it does not name. */
describe('The examples', () => {
  const receiver = useReceiver();
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'wns-examples-'));
    const quiet: ExecFileSyncOptionsWithStringEncoding = {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: PATIENCE_MS,
    };
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, '--loglevel=error'];
    const [{ filename }] = JSON.parse(execFileSync('npm', pack, { ...quiet, cwd: PACKAGE })) as [{ filename: string }];
    writeFileSync(join(folder, 'package.json'), '{"name":"examples","version":"1.0.0","private":true}');
    const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
    execFileSync('npm', [...install, '--legacy-peer-deps', join(folder, filename)], { ...quiet, cwd: folder });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** A copy of the example beside the library, as npm installed it, and links to the packages that it names. */
  function copyOf(example: string): string {
    const copy = join(folder, example);
    const isSource = (path: string) => !/\/(node_modules|dist)$/.test(path);
    cpSync(join(ROOT, 'examples', example), copy, { recursive: true, filter: isSource });
    cpSync(join(folder, 'node_modules'), join(copy, 'node_modules'), { recursive: true });
    const { dependencies, devDependencies } = manifestOf(copy);
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      if (name === 'webhook-notification') continue;
      mkdirSync(join(copy, 'node_modules', name, '..'), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name));
    }
    return copy;
  }

  describe.each([
    ['nest-typeorm', 'on the database of the service'],
    ['nest-drizzle', 'with a database of its own'],
  ])('%s, %s', (example, where) => {
    let copy: string;
    let own: TestDatabase;
    let child: ChildProcess;
    let logs: () => string;
    let url: string;
    let hook: Hook;
    let webhook: CreatedWebhook;
    // Registered first: the example ends before the databases do.
    afterAll(async () => {
      if (child) await endProcess(child, 'SIGKILL');
      await own?.drop();
    });
    // One for each: an event belongs to the application that has declared it.
    const service = useServiceProcess();

    const run = (settings: Settings, ...args: string[]) => {
      const env = { PATH: process.env.PATH, ...settings };
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        cwd: copy,
        env,
        encoding: 'utf8',
        timeout: PATIENCE_MS,
      });
      return { status, said: status === 0 ? '' : stdout + stderr };
    };
    const post = async (path: string, body: object = {}) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      const text = await answer.text();
      return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as { id: string } };
    };
    const pay = async (item: string) => {
      const { body } = await post('/orders', { customer: 'alice', item });
      return { id: body.id, status: (await post(`/orders/${body.id}/payment`)).status };
    };

    beforeAll(async () => {
      copy = copyOf(example);
      own = await cloneDatabase();
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      expect(run({}, tsc)).toEqual({ status: 0, said: '' });
    });
    it('names this version of the library, and the commands of the README', () => {
      const { dependencies, scripts } = manifestOf(copy);
      expect(dependencies['webhook-notification']).toBe(`^${manifestOf(PACKAGE).version}`);
      expect(scripts).toEqual({
        build: 'tsc',
        start: 'node dist/main.js',
        test: 'node --test dist/orders.spec.js',
      });
    });

    it('passes its own tests', () => {
      expect(run({ DATABASE_URL: own.url }, '--test', 'dist/orders.spec.js')).toEqual({ status: 0, said: '' });
    });

    it('sends what a paid order publishes, once and signed, and nothing of one that is rolled back', async () => {
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      const token = await service.createToken('shop', ['events:publish', 'events:broadcast', 'event-types:manage']);
      child = spawnFile(join(copy, 'dist/main.js'), [], {
        PORT: String(port),
        ...(where === 'on the database of the service'
          ? { DATABASE_URL: service.database.url }
          : { DATABASE_URL: own.url, WEBHOOKS_URL: service.url, WEBHOOKS_TOKEN: token }),
      });
      logs = capture(child, ['stdout', 'stderr']);
      const listens = () => fetch(url).then(({ status }) => status === 404);
      await waitFor(async () => hasExited(child) || (await listens()), { what: 'the example' });
      expect(hasExited(child) ? logs() : '').toBe('');

      const declared = async () => (await dataOf(service.api.eventTypes())).some(({ name }) => name === 'order.paid');
      await waitFor(declared, { what: 'the event type' });
      hook = receiver.hook();
      webhook = await subscribe(await service.apiFor('alice'), hook, ['order.paid']);
      expect(await pay('first edition')).toMatchObject({ status: 409 });
      const paid = await pay('tea');
      expect(paid.status).toBe(204);
      // Published last: what the others have sent is there before it.
      const last = await pay('tea');
      const calls = await hook.received(2);
      const orders = calls.map(({ body, headers }) => verifySignature(body, headers, webhook.secret));
      const wanted = [paid.id, last.id].map((orderId) => ({ orderId, item: 'tea' }));
      expect(orders.map(({ data }) => data)).toEqual(expect.arrayContaining(wanted));
      expect(hook.calls.length).toBe(2);
      const written = "select 1 from webhook_service.events where name = 'order.paid'";
      expect(await service.database.query(written)).toHaveLength(2);
      expect((await post(`/orders/${paid.id}/payment`)).status).toBe(404);
    });

    it('pays an order with the commands of the README', () => {
      const page = readFileSync(join(ROOT, 'examples/README.md'), 'utf8');
      const [, commands = ''] = /```sh\n(ORDER=[^]*?)```/.exec(page) ?? [];
      const own = commands.replaceAll('http://localhost:4000', url);
      expect(execFileSync('bash', ['-euc', own], { encoding: 'utf8' })).toMatch(/^HTTP\/1.1 204 /);
    });

    it('ends without a complaint', async () => {
      await endProcess(child, 'SIGTERM');
      // Nest ends the process with the signal that it got.
      expect(child.signalCode).toBe('SIGTERM');
      expect(logs()).not.toMatch(/WARN|ERROR|Warning/);
    });
  });
});
