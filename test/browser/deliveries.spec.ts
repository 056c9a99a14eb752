import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import type { Webhook } from '../support/api';
import { useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { publish, settledDeliveries, subscribe } from '../e2e/stage/steps';
import { describeInBrowser, says, screen } from './stage/browser';
import { byMouse } from './stage/ways';

const UNKNOWN = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';
const filterOf = (page: Page) => page.getByRole('combobox', { name: 'Filter or look up an id' });
const drawerOf = (page: Page) => page.getByRole('complementary', { name: 'Delivery' });
const rowsOf = (page: Page) =>
  page
    .getByRole('main')
    .getByRole('row')
    .filter({ has: page.getByRole('link') });

describeInBrowser('The log in the console', (browser) => {
  const service = useService({ MAX_RETRIES: '2', RETRY_BASE_DELAY_MS: '10', RETRY_FACTOR: '1' });
  const receiver = useReceiver();
  let good: Webhook;
  let bad: Webhook;
  let eventId: string;
  let failedId: string;

  beforeAll(async () => {
    const { api } = service;
    good = await subscribe(api, receiver.hook(), ['job.*'], { description: 'Billing' });
    bad = await subscribe(api, receiver.hook({ status: 500, body: '{"error":"locked"}' }), ['job.started'], {
      description: 'CRM sync',
    });
    await subscribe(api, receiver.hook(), ['follower.*'], { description: 'Not subscribed' });
    const event = await publish(api, 'job.started');
    eventId = event.id;
    await settledDeliveries(api, good, event);
    failedId = (await settledDeliveries(api, bad, event)).find(({ nextAttemptAt }) => nextAttemptAt === null)!.id;
    await settledDeliveries(api, good, await publish(api, 'job.completed'));
  });

  it('says why an event did not reach a webhook, from its id, without a click', async () => {
    const { page } = await browser.openSigned(service);
    await page.keyboard.press('/');
    await page.keyboard.type(`webhook-id: ${eventId}`);
    await page.keyboard.press('Enter');
    await screen(page, 'Event');
    const lanes = page
      .getByRole('main')
      .getByRole('region')
      .filter({ has: page.getByRole('button', { name: /deliver/i }) });
    // The failing webhook first, with its reason.
    await lanes.first().getByText('Gave up').waitFor();
    await lanes.first().getByRole('heading', { name: 'CRM sync' }).waitFor();
    await lanes
      .first()
      .getByText(/Your server answered 500/)
      .waitFor();
    const attempts = await lanes.first().locator('.timeline li').allTextContents();
    expect(attempts.map((text) => /^Attempt \d 500\d\d:\d\d:\d\d\.\d{3} · \d+ ms/.test(text))).toEqual([
      true,
      true,
      true,
    ]);
    await page.getByText('Not sent to 1 of your webhooks').click();
    await says(page, 'is not subscribed to this event type.');
  });

  it('does not say why an event for another user did not reach one’s own webhooks', async () => {
    const { id } = await publish(service.api, 'job.started', { userId: 'somebody-else' });
    const { page } = await browser.openSigned(service, `events/${id}`);
    await says(page, 'No webhook of yours receives it.');
    await page.getByRole('heading', { name: 'Data' }).waitFor();
    expect(await page.getByText(/^Not sent to/).count()).toBe(0);
  });

  it('finds a delivery, an event and a webhook by their ids, and says when there is none', async () => {
    const { page } = await browser.openSigned(service);
    const field = page.getByRole('searchbox', { name: 'Look up an id or subject' });
    for (const [id, title] of [
      [failedId, 'Delivery'],
      [eventId.toUpperCase(), 'Event'],
      [good.id, 'Billing'],
    ] as const) {
      await field.fill(id);
      await field.press('Enter');
      await screen(page, title);
    }
    await field.fill(UNKNOWN);
    await field.press('Enter');
    await says(page, /No delivery, event or webhook of yours has this id or subject, or it is older than 30 days/);
    await field.fill('about nothing');
    await field.press('Enter');
    await says(page, /of yours has this id or subject/);
  });

  it('says what changed in the last hour, in two steps', async () => {
    const { page } = await browser.openSigned(service);
    const way = byMouse();
    await way.press(page.getByRole('link', { name: 'Deliveries', exact: true }));
    await page.getByRole('combobox', { name: 'Time' }).selectOption('Last hour');
    await says(page, '5 match');
    expect(way.count + 1).toBe(2);
    expect(new URL(page.url()).search).toBe('?last=1h');
  });

  it('takes filters in one field, keeps them in the address, and removes them', async () => {
    const { page } = await browser.openSigned(service, 'deliveries');
    await filterOf(page).fill('crm');
    await page.getByRole('option', { name: 'Webhook CRM sync' }).click();
    await filterOf(page).fill('answer: 500');
    await filterOf(page).press('Enter');
    await says(page, 'To recover all that match, remove: responseStatus.');
    await page.getByRole('button', { name: 'Gave up' }).click();
    await page.waitForURL(/state=gave_up/);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      ...{ webhookId: bad.id, responseStatus: '500', state: 'gave_up' },
    });
    await page.reload();
    expect(await rowsOf(page).first().textContent()).toContain('Gave up');
    expect(await rowsOf(page).count()).toBe(1);
    await page.getByRole('button', { name: 'Remove Answer' }).click();
    await page.getByRole('link', { name: 'Recover all that match' }).waitFor();
    await filterOf(page).fill('event:zzz');
    await says(page, /No filter matches/);
    await filterOf(page).fill(eventId);
    await filterOf(page).press('Enter');
    await screen(page, 'Event');
  });

  it('shows an attempt beside the list, and goes through it by keys', async () => {
    const { page } = await browser.openSigned(service, 'deliveries?state=gave_up&state=delivered');
    await rowsOf(page).nth(1).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const drawer = drawerOf(page);
    await drawer.getByRole('heading', { name: 'job.completed' }).waitFor();
    await page.keyboard.press('j');
    await drawer.getByRole('heading', { name: 'job.started' }).waitFor();
    const failed = rowsOf(page).filter({ hasText: 'Gave up' });
    await failed.getByRole('link').click();
    await drawer.getByText(/Your server answered 500/).waitFor();
    expect(new URL(page.url()).searchParams.get('open')).toBe(failedId);
    await drawer.locator('.timeline li').nth(2).waitFor();
    expect(await drawer.locator('.timeline li').count()).toBe(3);
    await drawer.getByRole('button', { name: 'Request' }).click();
    await drawer.getByText('"event"').waitFor();
    await drawer.getByRole('button', { name: 'Headers' }).click();
    await drawer.getByText('x-service-attempt', { exact: true }).waitFor();
    await drawer.getByRole('button', { name: 'curl', exact: true }).click();
    await drawer.getByText(/^curl --globoff -X POST/).waitFor();
    await drawer.getByRole('button', { name: 'View' }).first().click();
    await drawer.getByText('Failed', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    // Keys of the field are text.
    await filterOf(page).fill('');
    await filterOf(page).press('j');
    expect(await filterOf(page).inputValue()).toBe('j');
  });

  it('has no keys once they are switched off', async () => {
    const { page } = await browser.openSigned(service, `deliveries?open=${failedId}`);
    await drawerOf(page).getByText('Shown here').waitFor();
    await page.getByRole('button', { name: /Signed in as/ }).click();
    await page.getByLabel('Keyboard shortcuts').uncheck();
    await page.reload();
    await drawerOf(page).getByText('Shown here').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    expect(await drawerOf(page).count()).toBe(1);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY');
  });

  it('opens a page in place of the drawer on a phone', async () => {
    const { page } = await browser.openSigned(service, 'deliveries');
    await page.setViewportSize({ width: 390, height: 844 });
    await rowsOf(page).first().getByRole('link').click();
    await screen(page, 'Delivery');
  });

  it.each(['CSV', 'JSON'])('exports what matches as %s', async (kind) => {
    const { page } = await browser.openSigned(service, 'deliveries?state=gave_up');
    await rowsOf(page).first().waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: `Export ${kind}` }).click(),
    ]);
    const text = await readFile(await file.path(), 'utf8');
    expect(file.suggestedFilename()).toBe(`deliveries.${kind.toLowerCase()}`);
    const ids =
      kind === 'CSV'
        ? text
            .split('\r\n')
            .slice(1, -1)
            .map((line) => line.split(',')[0])
        : (JSON.parse(text) as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual([failedId]);
    await says(page, 'Exported 1.');
  });

  it('finds events and deliveries by their subject, which each of them shows', async () => {
    const { api } = service;
    const subject = `50 % of "invoice/7" é 🧾`;
    const once = await publish(api, 'job.completed', { subject });
    await settledDeliveries(api, good, once);
    const { page } = await browser.openSigned(service);
    const field = page.getByRole('searchbox', { name: 'Look up an id or subject' });
    await field.fill(` ${subject} `);
    await field.press('Enter');
    await screen(page, 'Event');
    expect(new URL(page.url()).pathname).toMatch(new RegExp(`/events/${once.id}$`));
    const twice = await publish(api, 'job.completed', { subject });
    await settledDeliveries(api, good, twice);
    await page.getByRole('main').getByRole('link', { name: subject }).click();
    await screen(page, 'Events');
    await rowsOf(page).nth(1).waitFor();
    expect(await page.getByRole('searchbox', { name: 'Subject', exact: true }).inputValue()).toBe(subject);
    expect(await rowsOf(page).allTextContents()).toEqual([1, 2].map(() => expect.stringContaining(subject)));
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await filterOf(page).fill(subject);
    await page.getByRole('option', { name: `Subject ${subject}` }).click();
    await rowsOf(page).filter({ hasText: subject }).nth(1).waitFor();
    expect(await rowsOf(page).count()).toBe(2);
    await rowsOf(page).first().getByRole('link').click();
    await drawerOf(page).getByText(subject).first().waitFor();
    await drawerOf(page).getByRole('link', { name: 'Open as a page' }).click();
    await screen(page, 'Delivery');
    await page.getByRole('main').getByRole('link', { name: subject }).waitFor();
  });
});
