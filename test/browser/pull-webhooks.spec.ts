import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { Api, dataOf, type Message, pageOf } from '../support/api';
import { useService } from '../support/service';
import { waitFor } from '../support/wait-for';
import { publish } from '../e2e/stage/steps';
import { describeInBrowser, says, screen } from './stage/browser';

const SCOPES = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish', 'messages:pull'];
/** Looked at by people; git ignores it. */
const SCREENSHOTS = join(__dirname, '..', '..', '.screenshots');
/** The other scheme has other colours, and nothing else. */
const SCHEMES = [
  ['dark', "{ runOnly: ['cat.color'] }"],
  ['light', ''],
] as const;
const VIEWPORTS = [
  ['on a screen', { width: 1280, height: 720 }],
  ['on a phone', { width: 390, height: 844 }],
] as const;

describeInBrowser('A pull webhook in the console', (browser) => {
  const service = useService({
    ...{ MAX_RETRIES: '1', RETRY_BASE_DELAY_MS: '3600000', RETRY_JITTER: '0', RATE_LIMIT_PER_MINUTE: '0' },
  });
  beforeAll(() => void mkdirSync(SCREENSHOTS, { recursive: true }));

  const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

  it.each(VIEWPORTS)('is created, leased from, and read in the log %s', async (_, viewport) => {
    const { api, page, found, look } = await open(`user-${viewport.width}`, viewport);
    const id = await create(page, look);
    await screen(page, `Pull webhook ${id.slice(-6)}`);
    expect(await dataOf(api.readWebhook(id))).toMatchObject({ kind: 'pull', url: null, idleSeconds: 3600 });
    expect(await page.getByRole('button', { name: 'Test', exact: true }).count()).toBe(0);
    await section(page, 'Consumers').getByText('No consumer has requested events yet.').waitFor();
    await look('unasked');

    await publish(api, 'job.completed');
    const first = await leaseOne(api, id);
    await page.goto(`${service.url}/console/deliveries/${first.deliveryId}`);
    await page.getByRole('heading', { name: 'Leased by a consumer' }).waitFor();
    await page.locator('.summary').getByText('leased by a consumer').waitFor();
    expect(await page.getByRole('heading', { name: 'Response' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Send now|Redeliver|due now/ }).count()).toBe(0);
    const failed = [{ leaseId: first.leaseId, message: 'The order is not known yet.' }];
    await dataOf(api.acknowledge(id, { failed }));
    await page.reload();
    await says(page, 'The order is not known yet.');
    await look('rejected');

    await publish(api, 'job.completed');
    const second = await leaseOne(api, id);
    await dataOf(api.acknowledge(id, { succeeded: [second.leaseId] }));
    await publish(api, 'job.completed');
    await page.goto(`${service.url}/console/deliveries?webhookId=${id}`);
    await page.locator('tbody tr').nth(3).waitFor();
    const states = (text: string) => page.locator('tbody tr').filter({ hasText: text });
    expect(await states('ack').filter({ hasText: 'Delivered' }).count()).toBe(1);
    expect(await states('rejected').filter({ hasText: 'Failed' }).count()).toBe(1);
    await look('log');
    await states('Waiting').getByRole('link').click();
    await says(page, 'waits for a consumer');
    await look('drawer');
    const [waiting] = (await pending(api, id)).filter(({ attempt }) => attempt === 1);
    await page.goto(`${service.url}/console/deliveries/${waiting!.id}`);
    await says(page, 'No consumer has leased it.');
    expect(await page.getByRole('heading', { name: 'Leased by a consumer' }).count()).toBe(0);
    expect(found).toEqual([]);
  });

  it('says who leased last, what waits, and what can be set', async () => {
    const { api, page, found, look } = await open('owner', VIEWPORTS[0][1]);
    const body = { kind: 'pull', events: ['job.*'], description: 'Laptop', idleSeconds: 3600 };
    const { id } = await dataOf(api.createWebhook(body), 201);
    expect(await dataOf(api.lease(id, {}))).toEqual([]);
    for (let i = 0; i < 2; i++) await publish(api, 'job.started');
    await waitFor(async () => (await pending(api, id)).length === 2, { what: 'both deliveries' });
    await page.goto(`${service.url}/console/webhooks/${id}`);
    await section(page, 'Consumers').getByText('with the token “a test”').waitFor();
    await look('webhook');
    await section(page, 'Consumers').getByRole('link', { name: '2 deliveries' }).click();
    await page.locator('tbody tr').nth(1).waitFor();

    await page.goto(`${service.url}/console/webhooks/${id}/settings`);
    const idle = page.getByLabel('Delete after idle seconds');
    await section(page, 'Format').waitFor();
    for (const absent of ['Destination', 'Headers', 'Deadline and rate']) {
      expect(await section(page, absent).count()).toBe(0);
    }
    await idle.fill('59');
    await section(page, 'Idle time').getByRole('button', { name: 'Save' }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    await look('settings');
    await idle.fill('');
    await section(page, 'Idle time').getByRole('button', { name: 'Save' }).click();
    await section(page, 'Idle time').getByText('Saved.').waitFor();
    expect((await dataOf(api.readWebhook(id))).idleSeconds).toBeNull();

    await page.getByRole('textbox', { name: 'Description' }).fill('');
    await section(page, 'Name').getByRole('button', { name: 'Save' }).click();
    await section(page, 'Name').getByText('Saved.').waitFor();
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill(`Pull webhook ${id.slice(-6)}`);
    await dialog.getByRole('button', { name: 'Delete webhook' }).click();
    await screen(page, 'Webhooks');
    expect((await api.readWebhook(id)).status).toBe(404);
    expect(found).toEqual([]);
  });

  /** A page for a new webhook, of this user. `look` collects what axe finds. */
  async function open(user: string, viewport: { width: number; height: number }) {
    const token = await service.createToken(user, SCOPES);
    const { page } = await browser.openSigned({ url: service.url, token }, 'webhooks/new');
    await page.setViewportSize(viewport);
    const found: string[] = [];
    const look = async (what: string) => found.push(...(await problemsOf(page, `pull-${what}-${viewport.width}`)));
    return { page, found, look, api: new Api(service.url, token) };
  }

  /** Fills in the form for a pull webhook, and closes the dialog with its secret. */
  async function create(page: Page, look: (what: string) => Promise<unknown>): Promise<string> {
    await page.getByLabel('Endpoint URL').fill('https://example.com/');
    await page.getByRole('radio', { name: /^Pull/ }).check();
    expect(await page.getByLabel('Endpoint URL').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Create and test' }).count()).toBe(0);
    await page.getByRole('checkbox', { name: 'job.*' }).check();
    await page.getByLabel('Delete after idle seconds').fill('1h');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await says(page, 'Enter a number, or leave the field empty.');
    await page.getByLabel('Delete after idle seconds').fill('3600');
    await look('form');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Webhook created' });
    expect(await dialog.locator('code').first().innerText()).toMatch(/^whsec_/);
    const command = await dialog.locator('pre').first().innerText();
    await look('created');
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    return /--webhook (\S+)/.exec(command)![1]!;
  }

  async function leaseOne(api: Api, id: string): Promise<Message> {
    const [message] = await dataOf(api.lease(id, { limit: 1, waitSeconds: 20 }));
    return message!;
  }

  const pending = async (api: Api, id: string) => (await pageOf(api.listDeliveries(id, { status: 'pending' }))).rows;

  /** What axe finds in both schemes, and how far the page is too wide. */
  async function problemsOf(page: Page, name: string): Promise<string[]> {
    const found: string[] = [];
    await page.evaluate(axe.source);
    for (const [colorScheme, rules] of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(SCREENSHOTS, `${name}-${colorScheme}.png`), fullPage: true });
      const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${rules})`);
      for (const { id, nodes } of violations) {
        found.push(`${name}, ${colorScheme}: ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
      }
    }
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    return overflow > 0 ? [...found, `${name}: ${overflow} px too wide`] : found;
  }
});
