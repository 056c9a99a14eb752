import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { describeOnline } from '../../support/online';
import { administrate, databaseUrl } from '../../support/postgres';
import { freePort } from '../../support/service';
import { Terminal } from '../stage/terminal';

const ROOT = join(__dirname, '../../..');
const DOCUMENT = readFileSync(join(ROOT, 'packages/webhook-notification/README.md'), 'utf8');
const BLOCK = /```(sh|ts)\n([^]*?)```/g;

/** What somebody types who follows a section: its commands, and its files where they belong. */
function typedIn(section: number): string[] {
  const text = DOCUMENT.split(/^#{2,3} /m).find((part) => part.startsWith(`${section}. `)) ?? '';
  return [...text.matchAll(BLOCK)].map(([, kind, code = '']) => {
    if (kind === 'sh') return code;
    const path = /^\/\/ (\S+)\n/.exec(code)?.[1];
    if (path === undefined) throw new Error(`A file of section ${section} does not say where it lies.`);
    return `cat > ~/${path} <<'END OF FILE'\n${code}END OF FILE`;
  });
}

/** The tools of Nest 12 need a newer Node.js than this repository. */
function folderOfNode(folder: string): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 22)) return dirname(process.execPath);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, 'node@22'], { stdio: 'ignore' });
  return join(folder, 'node_modules/node/bin');
}

describeOnline('Fifteen minutes, as the README of the library has them', () => {
  jest.setTimeout(1_200_000);
  const name = `test_${randomBytes(6).toString('hex')}`;
  const terminals: Terminal[] = [];
  let home: string;
  let clone: string;
  let env: NodeJS.ProcessEnv;
  /** What is somebody's own: the database, and ports that are free. */
  let own: [before: string, now: string][];

  beforeAll(async () => {
    await administrate(`create database ${name}`);
    home = mkdtempSync(join(tmpdir(), 'wns-minutes-'));
    clone = join(home, 'clone');
    const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
    for (const file of [...files, 'dist']) {
      mkdirSync(dirname(join(clone, file)), { recursive: true });
      cpSync(join(ROOT, file), join(clone, file), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    const ports = [await freePort(), await freePort(), await freePort()].map(String);
    own = [
      ['postgres://user:password@127.0.0.1:5432/shop', databaseUrl(name)],
      ...['3000', '4000', '4001'].map((port, i): [string, string] => [port, ports[i]!]),
    ];
    // How this machine reaches the registry, and nothing of a developer's own settings.
    const reach = Object.entries(process.env).filter(([key]) => /^npm_config_|proxy|cert|^TMPDIR$/i.test(key));
    env = {
      npm_config_cache: join(homedir(), '.npm'),
      ...Object.fromEntries(reach),
      npm_config_yes: 'true',
      NO_COLOR: '1',
      PATH: `${folderOfNode(join(home, 'node'))}${delimiter}${process.env.PATH}`,
      HOME: home,
    };
  });
  afterAll(async () => {
    await Promise.all(terminals.map((terminal) => terminal.close()));
    await administrate(`drop database if exists ${name} with (force)`);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });

  const withOwn = (text: string) => own.reduce((typed, [before, now]) => typed.replaceAll(before, now), text);
  function open(title: string): { terminal: Terminal; type(...texts: string[]): void } {
    const terminal = new Terminal(title, clone, env);
    terminals.push(terminal);
    return { terminal, type: (...texts) => texts.forEach((text) => terminal.type(withOwn(text))) };
  }

  it('lead from nothing to a verified delivery', async () => {
    const service = open('the service');
    // It is what has made this checkout.
    service.type('export PORT=3000', 'npm() { if [ "$*" != ci ]; then command npm "$@"; fi; }', ...typedIn(1));
    // It builds the library.
    await service.terminal.says('webhook-notification-0.3.0.tgz', 400_000);
    // Another version of Node.js builds everything anew.
    await service.terminal.says(/listening/i, 400_000);

    const [shop, books] = [open('shop'), open('books')];
    shop.type(...typedIn(2), ...typedIn(3));
    books.type(...typedIn(4));
    await shop.terminal.says('Nest application successfully started', 400_000);
    expect(shop.terminal.printed()).toMatch(/Tests +1 passed/);
    await books.terminal.says('Nest application successfully started', 400_000);

    const [subscribe = '', pay = '', forge = ''] = typedIn(5);
    const user = open('alice');
    user.type(subscribe, pay);
    await user.terminal.says('HTTP/1.1 201');
    await books.terminal.says('verified: order.paid {"orderId":"2026-0042"}');
    user.type(pay);
    await user.terminal.says('HTTP/1.1 409');
    user.type(forge);
    await user.terminal.says('HTTP/1.1 401');
    expect(books.terminal.printed().match(/verified/g)).toHaveLength(1);
  });
});
