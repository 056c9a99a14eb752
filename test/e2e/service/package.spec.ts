import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

/** An application that has installed the packed package: its own folder, its own copy, the same dependencies. */
describe('The packed package', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'wns-package-'));
    const modules = join(folder, 'node_modules');
    const installed = join(modules, 'webhook-notification-service');
    mkdirSync(installed, { recursive: true });
    // A .tgz as `npm publish` would send it, unpacked as `npm install` would.
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
        cwd: ROOT,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as [{ filename: string }];
    execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', installed, '--strip-components=1']);
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (code: string): unknown =>
    JSON.parse(execFileSync(process.execPath, ['-e', code], { cwd: folder, encoding: 'utf8' }));

  it('is the module, EventsService and ApiError', () => {
    const names = run(`console.log(JSON.stringify(Object.keys(require('webhook-notification-service')).sort()))`);
    expect(names).toEqual(['ApiError', 'EventsService', 'WebhookNotificationModule']);
  });

  it('has the console, and everything that it loads', () => {
    const pages = join(folder, 'node_modules/webhook-notification-service/dist/console');
    const page = readFileSync(join(pages, 'index.html'), 'utf8');
    const names = [...page.matchAll(/%BASE%(assets\/[^"]+)/g)].map(([, name]) => name!);
    expect(names).toHaveLength(2);
    for (const name of names) expect(existsSync(join(pages, name))).toBe(true);
  });

  it('has types, which refuse wrong data of a declared event', () => {
    writeFileSync(
      join(folder, 'consumer.ts'),
      `import { type EventsService, WebhookNotificationModule } from 'webhook-notification-service';
       declare module 'webhook-notification' {
         interface EventPayloads { 'invoice.paid': { cents: number } }
       }
       export const module = WebhookNotificationModule.forRoot({
         eventTypes: [{ name: 'invoice.paid', description: 'Paid.', schema: { type: 'object' }, example: { cents: 1 } }],
       });
       export async function pay(events: EventsService): Promise<void> {
         await events.publish('invoice.paid', { cents: 1 });
         // @ts-expect-error: cents is a number
         await events.publish('invoice.paid', { cents: '1' });
         // @ts-expect-error: nobody has declared it
         await events.publish('invoice.lost', { cents: 1 });
         // @ts-expect-error: the example has to fit as well
         WebhookNotificationModule.forRoot({ eventTypes: [{ name: 'invoice.paid', description: '', schema: { type: 'object' }, example: {} }] });
       }`,
    );
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const options =
      '--noEmit --strict --skipLibCheck --module nodenext --target es2023 --types node --experimentalDecorators';
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...options.split(' '), 'consumer.ts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });
});

describe('The image', () => {
  it('is built from files that are sent to where it is built', () => {
    const linesOf = (file: string) => readFileSync(join(ROOT, file), 'utf8').split('\n');
    const copied = linesOf('Dockerfile').flatMap((line) => {
      const [, sources] = /^COPY (?!--from)(.+) \S+$/.exec(line) ?? [];
      return sources ? sources.split(' ') : [];
    });
    const sent = linesOf('.dockerignore').flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((path) => !sent.includes(path))).toEqual([]);
    for (const path of copied) expect(existsSync(join(ROOT, path))).toBe(true);
  });
});
