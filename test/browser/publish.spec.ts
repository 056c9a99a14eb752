import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { dataOf, pageOf } from '../support/api';
import { EXAMPLES } from '../e2e/stage/examples';
import { useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { subscribe } from '../e2e/stage/steps';
import { describeInBrowser, says, screen } from './stage/browser';
import { hostileTexts } from './stage/hostile-texts';
import { byMouse } from './stage/ways';

const ORDINARY = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];

/** As in screens.spec.ts. */
const SCHEMES = [
  ['light', ''],
  ['dark', "{ runOnly: ['cat.color'] }"],
] as const;

const editor = (page: Page) => page.getByRole('textbox', { name: 'Data (JSON)' });
const button = (page: Page) => page.getByRole('button', { name: 'Publish', exact: true });
const textOf = (page: Page) => editor(page).locator('.cm-line').allInnerTexts();

/** Waits until the editor has replaced the textarea. */
const isReady = (page: Page) => editor(page).locator('.cm-line').first().waitFor();

describeInBrowser('Publishing by hand', (browser) => {
  const service = useService({ MAX_RETRIES: '0' });
  const receiver = useReceiver();

  async function newUser(user: string, scopes: readonly string[] = ORDINARY) {
    const api = service.api.withToken(await service.createToken(user, ORDINARY));
    return { api, signed: { url: service.url, token: await service.createToken(user, [...scopes]) } };
  }

  it('takes three clicks; Back shows type and data again, and a new visit begins with the type', async () => {
    const { api, signed } = await newUser('ann');
    const hook = receiver.hook();
    await subscribe(api, hook, ['job.*'], { description: 'Billing' });
    const { page } = await browser.openSigned(signed);
    const way = byMouse();
    await way.press(page.getByRole('link', { name: 'Publish', exact: true }));
    await isReady(page);
    way.count++;
    await page.getByLabel('Event type').selectOption('job.started');
    await says(page, 'This will reach 1 of your webhooks:');
    await page.getByRole('main').getByRole('link', { name: 'Billing' }).waitFor();
    const text = JSON.stringify({ ...EXAMPLES['job.started'], name: 'by hand' });
    await editor(page).fill(text);
    await way.press(button(page));
    await screen(page, 'Event');
    expect(way.count).toBe(3);
    const [call] = await hook.received(1);
    expect(JSON.parse(String(call!.body))).toMatchObject({ event: 'job.started', data: { name: 'by hand' } });

    await page.goBack();
    await isReady(page);
    expect(await page.getByLabel('Event type').inputValue()).toBe('job.started');
    expect(await textOf(page)).toEqual([text]);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('link', { name: 'Publish', exact: true }).click();
    await isReady(page);
    expect(await page.getByLabel('Event type').inputValue()).toBe('job.started');
    expect((await textOf(page)).length).toBeGreaterThan(3);
  });

  it('publishes with a subject, which a copy of the event keeps', async () => {
    const { api, signed } = await newUser('sue');
    const { page } = await browser.openSigned(signed, 'publish');
    await isReady(page);
    await page.getByLabel('Event type').selectOption('job.started');
    await page.getByLabel('Subject (optional)').fill(`a${'b'.repeat(128)}`);
    await button(page).click();
    await says(page, /subject must be 1 to 128 visible characters/);
    await page.getByLabel('Subject (optional)').fill(' invoice/7 é ');
    await button(page).click();
    await screen(page, 'Event');
    expect((await pageOf(api.listEvents())).rows).toMatchObject([{ subject: 'invoice/7 é' }]);
    await page.getByRole('link', { name: 'Publish again as new' }).click();
    await isReady(page);
    expect(await page.getByLabel('Subject (optional)').inputValue()).toBe('invoice/7 é');
  });

  it('shows where a text stops being JSON, and moves there instead of publishing', async () => {
    const { api, signed } = await newUser('bob');
    const { page } = await browser.openSigned(signed, 'publish');
    await isReady(page);
    await editor(page).fill('{\n  "jobId": "1",\n  oops\n}');
    await says(
      page,
      'This is not valid JSON. Line 3, column 3: the name of a field in double quotes is expected here.',
    );
    expect(await editor(page).getAttribute('aria-invalid')).toBe('true');
    await page.locator('.cm-lint-marker-error').waitFor();
    await button(page).click();
    await page.keyboard.type('"here": 1, "and": ');
    expect((await textOf(page))[2]).toBe('  "here": 1, "and": oops');
    expect((await pageOf(api.listEvents())).rows).toEqual([]);
  });

  it('lists what the service refuses, each at its line, and ties it to its field', async () => {
    const { signed } = await newUser('carl');
    const { page } = await browser.openSigned(signed, 'publish?event=follower.gained');
    await isReady(page);
    const { follower: _, ...others } = EXAMPLES['follower.gained'];
    await editor(page).fill(JSON.stringify({ ...others, accountId: 1, follower: { id: 2 } }, null, 2));
    await page.getByLabel('Idempotency key').fill('ключ');
    await button(page).click();
    await says(page, 'Nothing was published: 1 field is invalid.');
    const key = page.getByLabel('Idempotency key');
    expect(await key.getAttribute('aria-invalid')).toBe('true');
    expect(await key.evaluate((element) => element.matches(':focus'))).toBe(true);
    await key.fill('');
    await button(page).click();
    await says(page, 'Nothing was published: 3 fields are invalid.');
    const lines = (await textOf(page)).flatMap((line, i) => (/"(accountId|id|follower)"/.test(line) ? [i + 1] : []));
    for (const line of lines)
      await page
        .getByRole('button', { name: `Line ${line}`, exact: true })
        .first()
        .waitFor();
    await page.locator('.cm-lint-marker-error').nth(2).waitFor();
    expect(await page.locator('.cm-lint-marker-error').count()).toBe(3);
    await page.getByRole('button', { name: `Line ${lines[0]}`, exact: true }).click();
    await page.keyboard.type('/');
    expect((await textOf(page))[lines[0]! - 1]).toContain('/"');
    await page.evaluate(axe.source);
    for (const [colorScheme, rules] of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${rules})`);
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    }
  });

  it('works with the keyboard: Tab indents, Escape and Tab leave, Ctrl+Enter publishes', async () => {
    const { signed } = await newUser('dora');
    const { page } = await browser.openSigned(signed, 'publish?event=job.started');
    await isReady(page);
    await says(page, 'Tab indents. To leave the editor, press Escape, then Tab.');
    await page.getByLabel('Event type').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect((await textOf(page))[0]).toBe('  {');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await page.getByLabel('My webhooks').evaluate((element) => element.matches(':focus'))).toBe(true);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.type(' ');
    await page.keyboard.press('Control+Enter');
    await screen(page, 'Event');
  });

  it.each([
    [1280, 713],
    [320, 640],
  ])('keeps the button in sight at %d × %d, and covers nothing that has the focus', async (width, height) => {
    const { signed } = await newUser(`fay-${width}`);
    const { page } = await browser.openSigned(signed, 'publish');
    await page.setViewportSize({ width, height });
    await isReady(page);
    const bar = await page.locator('.publish-bar').boundingBox();
    expect(bar!.y + bar!.height).toBeLessThanOrEqual(height);
    await page.getByLabel('Event type').focus();
    const stops = ['Data (JSON)', 'My webhooks', 'Subject (optional)', 'Idempotency key (optional)'];
    for (const name of stops) {
      if (name === 'My webhooks') await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
      const field = page.getByLabel(name);
      expect(await field.evaluate((element) => element.matches(':focus'))).toBe(true);
      if (name !== 'Data (JSON)') {
        const [box, over] = [await field.boundingBox(), await page.locator('.publish-bar').boundingBox()];
        expect(box!.y + box!.height).toBeLessThanOrEqual(over!.y);
      }
    }
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  });

  it('falls back to a textarea if the editor cannot be loaded', async () => {
    const { signed } = await newUser('gus');
    const { page } = await browser.openSigned(signed);
    await page.route('**/code-mirror-*.js', (route) => route.abort());
    await page.getByRole('link', { name: 'Publish', exact: true }).click();
    await page.getByLabel('Event type').selectOption('job.completed');
    expect(await editor(page).inputValue()).toContain('"completedAt"');
    await editor(page).fill('{');
    await says(page, /Line 1, column 2/);
    await page.getByRole('button', { name: 'Reset to the example' }).click();
    await button(page).click();
    await screen(page, 'Event');
  });

  it('offers other audiences to tokens with events:broadcast, and names the scope to others', async () => {
    const { signed } = await newUser('hal');
    const { page } = await browser.openSigned(signed, 'publish');
    await says(page, 'Your token lacks the scope events:broadcast.');
    expect(await page.getByLabel('Webhooks of all users').isDisabled()).toBe(true);

    const { page: mine } = await browser.openSigned(service, 'publish?event=job.started');
    await isReady(mine);
    await mine.getByLabel('Webhooks of another user').check();
    await mine.getByLabel('User id').fill('hal');
    await button(mine).click();
    await says(mine, 'for hal');
  });

  it('shows untrusted text as text, with its invisible characters', async () => {
    const { api, signed } = await newUser('ivy');
    const text = `${hostileTexts('http://127.0.0.1:9/taken').join('\n')}\u202e`;
    const description = `<img src=x onerror="globalThis.taken=1">`;
    await subscribe(api, receiver.hook(), ['job.started'], { description });
    const data = { ...EXAMPLES['job.started'], name: text, more: { [text]: text } };
    const { id } = await dataOf(api.publish({ event: 'job.started', data }), 202);
    const { page } = await browser.openSigned(signed, `publish?like=${id}`);
    await isReady(page);
    await editor(page).getByText('⟨U+202E⟩').first().waitFor();
    await page.getByRole('link', { name: description }).waitFor();
    await button(page).click();
    await screen(page, 'Event');
    const [again] = (await pageOf(api.listEvents())).rows;
    expect(again!.id).not.toBe(id);
    expect(again!.data).toEqual(data);
    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
  });
});
