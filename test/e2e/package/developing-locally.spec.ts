import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pageOf } from '../../support/api';
import { freePort, useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { Terminal } from '../stage/terminal';

const ROOT = join(__dirname, '../../..');
const [, SECTION = ''] = readFileSync(join(ROOT, 'docs/developing-locally.md'), 'utf8').split(
  '## A receiver on your machine\n',
);
const [PREPARE = '', RECEIVER = '', START = '', TRIGGER = '', SCRIPT = ''] = [
  ...SECTION.matchAll(/```(?:sh|js)\n([^]*?)```/g),
].map(([, code = '']) => code);

describe('A receiver on your machine, as docs/developing-locally.md has it', () => {
  const service = useService();
  const terminals: Terminal[] = [];
  let home: string;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'wns-locally-'));
    const pack = ['pack', '--ignore-scripts', '--pack-destination', home];
    for (const name of ['webhook-notification', 'webhook-notification-cli'])
      execFileSync('npm', pack, { cwd: join(ROOT, 'packages', name), stdio: 'ignore' });
    mkdirSync(join(home, 'empty'));
  });
  afterAll(async () => {
    await Promise.all(terminals.map((terminal) => terminal.close()));
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });

  it('leads from an empty folder to a verified event', async () => {
    const port = String(await freePort());
    const withOwn = (text: string) =>
      text
        .replaceAll('wns_…', service.token)
        .replaceAll('http://localhost:3000', service.url)
        .replaceAll('4000', port)
        .replaceAll(/^npx webhook-notification-cli \w+/gm, `$& --service ${service.url}`);
    const reach = Object.entries(process.env).filter(([key]) => /^npm_config_|proxy|cert|^TMPDIR$/i.test(key));
    const env = {
      npm_config_cache: join(homedir(), '.npm'),
      ...Object.fromEntries(reach),
      npm_config_prefer_offline: 'true',
      NO_COLOR: '1',
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      HOME: home,
    };
    const open = (title: string, ...texts: string[]) => {
      const terminal = new Terminal(title, join(home, 'empty'), env);
      terminals.push(terminal);
      for (const text of texts) terminal.type(withOwn(text));
      return terminal;
    };

    writeFileSync(join(home, 'empty/receiver.mjs'), withOwn(RECEIVER));
    const first = open('the receiver', PREPARE, 'echo "secret $WEBHOOK_SECRET"', START);
    await first.says('Forwarding');
    const second = open('the publisher', TRIGGER);
    await first.says(/^genuine: follower\.gained [0-9a-f-]{36}$/m);
    await first.says(/ {2}follower\.gained {2}succeeded \(attempt 1\) {2}204 {2}\d+ ms {2}[0-9a-f-]{36}$/m);
    expect(second.printed()).toMatch(/[0-9a-f-]{36}\n$/);
    const { rows } = await waitFor(() => pageOf(service.api.listWebhooks()), { what: 'the list of webhooks' });
    expect(rows).toMatchObject([{ kind: 'pull', events: ['follower.*'] }]);

    const [, secret = ''] = /^secret (\S+)$/m.exec(first.printed()) ?? [];
    const script = open('the script', `export WEBHOOKS_TOKEN=wns_… WEBHOOK_SECRET=${secret}`, SCRIPT);
    await script.says('Forwarding');
    second.type(withOwn(TRIGGER));
    await script.says(/"status":"succeeded"/);
  });
});
