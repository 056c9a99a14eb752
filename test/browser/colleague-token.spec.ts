import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { dataOf, pageOf } from '../support/api';
import { useService } from '../support/service';
import { describeInBrowser, says, screen } from './stage/browser';
import { byKeyboard, byMouse } from './stage/ways';
import { DAY_MS } from '../../src/infrastructure/config/durations';

const SCOPES = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish', 'tokens:manage'];
const MOST_CLICKS = 4;

describeInBrowser('A token for a colleague', (browser) => {
  const service = useService();

  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

  /** A user that no other test has, whose session is made with a token of this name. */
  async function newUser(userId: string, name: string, expiresAt: string | null = null) {
    const body = { name, userId, scopes: SCOPES, expiresAt };
    const { id, token } = await dataOf(service.api.createToken(body), 201);
    return { id, api: service.api.withToken(token), signed: { url: service.url, token } };
  }

  it.each(['clicks', 'the keyboard'])('is made by %s alone, and outlives the session', async (how) => {
    const { id, api, signed } = await newUser(how === 'clicks' ? 'ann' : 'kim', 'Backend');
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page } = await browser.openSigned(signed, '', { permissions });
    const way = how === 'clicks' ? byMouse() : byKeyboard(page);
    await way.press(page.getByRole('link', { name: 'Access tokens' }));
    await way.press(page.getByRole('button', { name: 'New token' }));
    await says(page, /revoked together with “Backend”, the token that this session was made with\. Signing out/);
    await page.getByRole('textbox', { name: 'Name' }).fill('Colleague');
    await way.press(page.getByRole('button', { name: 'Create token' }));
    const dialog = page.getByRole('dialog', { name: 'Copy the token now' });
    await way.press(dialog.getByRole('button', { name: 'Copy', exact: true }));
    expect(way.count).toBeLessThanOrEqual(MOST_CLICKS);
    await says(page, 'Copied');
    const token = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(await dialog.getByLabel('New token').textContent()).toBe(token);
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.locator('button:focus', { hasText: 'New token' }).waitFor();
    expect(await page.content()).not.toContain(token);
    await page.getByText(how === 'clicks' ? 'ann' : 'kim', { exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await screen(page, 'Sign in');
    const { rows } = await pageOf(api.listTokens());
    const made = { name: 'Colleague', madeBy: id, scopes: ['webhooks:read', 'deliveries:read'] };
    expect(rows.filter(({ name }) => name === 'Colleague')).toMatchObject([made]);
    expect((await service.api.withToken(token).listWebhooks()).status).toBe(200);
    expect((await service.api.withToken(token).publish({ event: 'job.started', data: {} })).status).toBe(403);
  });

  it('is offered no expiry beyond that of its parent', async () => {
    const expiresAt = inDays(31);
    const { api, signed } = await newUser('ben', 'Backend', expiresAt);
    const { page } = await browser.openSigned(signed, 'tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await says(page, /It cannot outlive “Backend”, which expires on /);
    const expiry = page.getByRole('combobox', { name: 'Expires' });
    const choices = await expiry.locator('option').allTextContents();
    expect(choices).toEqual(['after 1 day', 'after 7 days', 'after 30 days', 'together with “Backend”']);
    await page.getByRole('textbox', { name: 'Name' }).fill('Colleague');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    expect((await pageOf(api.listTokens())).rows.find(({ name }) => name === 'Colleague')).toMatchObject({ expiresAt });
  });

  it('ends with BOOTSTRAP_TOKEN, or with the session, where no token has made the session', async () => {
    const { page } = await browser.openSigned(service, 'tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await says(page, /This session was made with BOOTSTRAP_TOKEN/);
    await page.getByRole('option', { name: 'never' }).waitFor({ state: 'attached' });
    const { signed, id } = await newUser('lin', 'Backend');
    const { page: other } = await browser.openSigned(signed, 'tokens');
    // As of a link that an application has made in process.
    await service.database.query('update webhook_service.access_tokens set parent_id = null where parent_id = $1', [
      id,
    ]);
    await other.reload();
    await other.getByRole('button', { name: 'New token' }).click();
    await says(other, /so the new token ends with the session/);
    const choices = await other.getByRole('combobox', { name: 'Expires' }).locator('option').allTextContents();
    expect(choices).toEqual(['together with this session']);
  });

  it('has the scopes of a usual choice, or others', async () => {
    const { signed } = await newUser('cat', 'Backend');
    const { page } = await browser.openSigned(signed, 'tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    const chosen = () =>
      page
        .getByRole('checkbox', { checked: true })
        .evaluateAll((boxes) =>
          boxes.map((box) => (box as { parentElement?: { innerText: string } }).parentElement?.innerText.split(' ')[0]),
        );
    expect(await chosen()).toEqual(['webhooks:read', 'deliveries:read']);
    await page.getByRole('button', { name: 'Publish only' }).click();
    expect(await chosen()).toEqual(['events:publish']);
    await page.getByRole('button', { name: 'Everything I may' }).click();
    expect(await chosen()).toEqual(SCOPES);
    await page.getByRole('button', { name: 'Publish only' }).click();
    await page.getByRole('checkbox', { name: /events:publish/ }).uncheck();
    expect(await page.getByRole('button', { name: 'Publish only' }).getAttribute('aria-pressed')).toBe('false');
    await page.getByRole('button', { name: 'Create token' }).click();
    await says(page, 'Enter a name.');
    await says(page, 'Choose at least one scope.');
    await page.locator('input[aria-invalid="true"][aria-describedby]:focus').waitFor();
  });

  it('stands below its parent, and is named before it is revoked with it', async () => {
    const { api, signed } = await newUser('dee', 'Backend');
    const { token } = await dataOf(api.createToken({ name: 'Grafana', scopes: SCOPES, expiresAt: inDays(6) }), 201);
    await dataOf(
      service.api.withToken(token).createToken({ name: 'Panel', scopes: ['webhooks:read'], expiresAt: inDays(5) }),
      201,
    );
    const { page } = await browser.openSigned(signed, 'tokens');
    const main = page.getByRole('main');
    const below = (name: string) => main.getByRole('listitem').filter({ hasText: name }).first().getByRole('list');
    await below('Backend').getByText('Grafana').waitFor();
    await below('Grafana').getByText('Panel').waitFor();
    await below('Backend').getByText('this session', { exact: true }).waitFor();
    expect(await main.getByText(/^expires in [56] d$/).count()).toBe(2);
    await page.getByRole('button', { name: 'Revoke Grafana' }).click();
    await says(page, 'This token is revoked with it:');
    await page.getByRole('dialog').getByRole('listitem').filter({ hasText: 'Panel' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await main.locator('.token', { hasText: 'Panel' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Revoke Backend' }).click();
    await says(page, /This ends your session/);
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await says(page, 'Your session has ended.');
    expect((await api.me()).status).toBe(401);
  });

  it('is made on a phone without sideways scrolling, accessibly', async () => {
    const { signed } = await newUser(
      'eve',
      'Backend with a name that is longer than a phone is wide, of which there are some',
    );
    const { page } = await browser.openSigned(signed, 'tokens');
    await page.setViewportSize({ width: 320, height: 700 });
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('button', { name: 'Create token' }).click();
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Name' }).fill('Colleague');
    await page.getByRole('button', { name: 'Create token' }).click();
    await says(page, 'I have copied it');
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('button', { name: 'Revoke Backend' }).click();
    await says(page, /This ends your session/);
    expect(await problemsOf(page)).toEqual([]);
  });
});

/** What axe finds, and how far the page is too wide. */
async function problemsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
    ...(overflow > 0 ? [`${overflow} px`] : []),
  ];
}
