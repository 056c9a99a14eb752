import { spawn, spawnSync } from 'node:child_process';
import { text as textOf } from 'node:stream/consumers';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { dataOf } from '../support/api';
import { useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { publish, settledDeliveries, subscribe } from '../e2e/stage/steps';
import { EXAMPLES } from '../e2e/stage/examples';
import { describeInBrowser, says } from './stage/browser';

const ROOT = join(__dirname, '..', '..');
const OWN_HEADERS = ['host', 'connection', 'content-length', 'accept', 'accept-encoding'];

describeInBrowser('What is copied', (browser) => {
  const service = useService({ EVENT_MAX_BYTES: '400000' });
  const receiver = useReceiver();
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'copied-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const openWithClipboard = async (path: string) =>
    (await browser.openSigned(service, path, { permissions: ['clipboard-read', 'clipboard-write'] })).page;

  async function copied(page: Page, button: string): Promise<string> {
    await page.getByRole('button', { name: button }).first().click();
    await says(page, 'Copied');
    return page.evaluate<string>('navigator.clipboard.readText()');
  }

  it.each([
    [
      'quotes, backslashes and what a shell would run',
      `it's "$(touch ${tmpdir()}/taken)" \`id\` \\ \\\\ %s !! \n\t\r {a,b} *`,
    ],
    ['marks that nobody sees, and every script', '\u202e\u200b\ufeff 🙂 ناس 人 \u0000\u001b[31m'],
    ['more than fits into a word of a shell', `${'x'.repeat(150_000)}'`],
  ])('as curl sends the same bytes: %s', async (_, text) => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started']);
    const event = await publish(service.api, 'job.started', { data: { ...EXAMPLES['job.started'], name: text } });
    const [delivery] = await settledDeliveries(service.api, webhook, event);
    const page = await openWithClipboard(`deliveries/${delivery!.id}`);
    await runInShell(await copied(page, 'Copy as curl'));
    const [sent, again] = await hook.received(2);
    expect(again!.body.equals(sent!.body)).toBe(true);
    const headersOf = (headers: object) => Object.entries(headers).filter(([name]) => !OWN_HEADERS.includes(name));
    expect(Object.fromEntries(headersOf(again!.headers))).toEqual(Object.fromEntries(headersOf(sent!.headers)));
    expect(await copied(page, 'Copy body')).toBe(sent!.body.toString());
    await dataOf(service.api.deleteWebhook(webhook.id));
  });

  it('as the call of the API does what the button does', async () => {
    const page = await openWithClipboard('webhooks/new');
    await page.getByLabel('Endpoint URL').fill('https://example.com/it%27s?a=1&b=2');
    await page.getByRole('checkbox', { name: '* All events' }).check();
    await page.getByLabel('Description').fill(`Bob's "own"`);
    await page.getByText('Show the API call').click();
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await says(page, 'Copied');
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    const answer = await runInShell(command, { TOKEN: service.token });
    expect(JSON.parse(answer)).toMatchObject({
      success: true,
      data: { url: 'https://example.com/it%27s?a=1&b=2', description: `Bob's "own"`, events: ['*'] },
    });
  });

  it('as TypeScript fits the example of each event', async () => {
    const page = await openWithClipboard('event-types');
    const types = await dataOf(service.api.eventTypes());
    const files: string[] = [];
    for (const { name, example } of types) {
      await page.goto(`${service.url}/console/event-types/${name}`);
      const code = await page.locator('section:has(> h2:text("TypeScript")) pre').textContent();
      const [, type] = /export interface (\w+)/.exec(code ?? '') ?? [];
      files.push(join(folder, `${name}.ts`));
      writeFileSync(files.at(-1)!, `${code}\nexport const example: ${type} = ${JSON.stringify(example)};\n`);
    }
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '--noEmit', '--strict', '--ignoreConfig', ...files], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  });
});

/** What the command prints. */
async function runInShell(command: string, env: Record<string, string> = {}): Promise<string> {
  const shell = spawn('bash', ['-s'], { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
  shell.stdin.end(command);
  return textOf(shell.stdout);
}
