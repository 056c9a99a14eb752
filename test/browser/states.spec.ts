import type { Page, Route } from 'playwright-core';
import { dataOf, pageOf } from '../support/api';
import { startProxy } from '../support/proxy';
import { useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { waitFor } from '../support/wait-for';
import { publish, settledDeliveries, subscribe } from '../e2e/stage/steps';
import { describeInBrowser, INTRANET, says, screen, signIn } from './stage/browser';
import { startPrefixes } from './stage/prefix';

const ORDINARY = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];

describeInBrowser('The console', (browser) => {
  const service = useService({ MAX_RETRIES: '1', RETRY_BASE_DELAY_MS: '3600000' });
  const receiver = useReceiver();

  /** A user that no other test has, with a webhook. */
  async function newUser(name: string, answer = {}) {
    const token = await service.createToken(name, ORDINARY);
    const api = service.api.withToken(token);
    return {
      api,
      signed: { url: service.url, token },
      webhook: await subscribe(api, receiver.hook(answer), ['job.started']),
    };
  }

  it('shows what is empty, and what one can do about it', async () => {
    const { page } = await browser.openSigned({
      url: service.url,
      token: await service.createToken('empty', ORDINARY),
    });
    await says(page, 'No webhook yet');
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await says(page, 'No deliveries yet');
    await page.getByRole('button', { name: 'Gave up' }).click();
    await says(page, 'Nothing matches these filters.');
    await page.getByRole('button', { name: 'Remove state=gave_up' }).click();
    await says(page, 'No deliveries yet');
    await page.goBack();
    await says(page, 'Nothing matches these filters.');
    await page.goForward();
    await says(page, 'No deliveries yet');
  });

  it('names the scope that a token lacks, and shows what it cannot do', async () => {
    const { api, webhook } = await newUser('reader');
    const event = await publish(api, 'job.started');
    const [delivery] = await settledDeliveries(api, webhook, event);
    const token = await service.createToken('reader', ['webhooks:read', 'deliveries:read']);
    const { page } = await browser.openSigned({ url: service.url, token }, `deliveries/${delivery!.id}`);
    await says(page, 'Your token lacks the scope webhooks:write.');
    expect(await page.getByRole('button', { name: 'Redeliver' }).isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'Access tokens' }).click();
    await says(page, 'Your token lacks the scope tokens:manage.');
    await page.getByRole('link', { name: 'Publish', exact: true }).click();
    await says(page, 'Your token lacks the scope events:publish.');
  });

  it('says what is not there, and what stands in the way', async () => {
    const { api, signed, webhook } = await newUser('conflict', { status: 500 });
    const { page } = await browser.openSigned(signed, 'deliveries/0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90');
    await page.getByRole('alert').waitFor();
    const event = await publish(api, 'job.started');
    const failed = await failedDelivery(api, webhook.id);
    await page.goto(`${service.url}/console/deliveries/${failed.id}`);
    await page.getByRole('button', { name: 'Redeliver' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('link', { name: 'Show the pending attempt' }).click();
    await page.waitForURL(`**/events/${event.id}`);
    await page.getByRole('button', { name: 'Send now' }).click();
    await says(page, 'attempt 2');
  });

  it('takes back that a webhook was disabled, when that has canceled nothing', async () => {
    const { api, signed, webhook } = await newUser('switcher');
    const { page } = await browser.openSigned(signed, `webhooks/${webhook.id}`);
    await page.getByRole('button', { name: 'Disable' }).click();
    await says(page, '0 waiting deliveries will be canceled.');
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await says(page, `${nameOf(webhook)} is disabled.`);
    await page.getByRole('button', { name: 'Undo' }).click();
    await says(page, `${nameOf(webhook)} is active.`);
    expect(await dataOf(api.readWebhook(webhook.id))).toMatchObject({ active: true });
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText(`${nameOf(webhook)} is active.`).waitFor({ state: 'detached' });
  });

  it('says that a webhook is gone that another tab has deleted', async () => {
    const { api, signed, webhook } = await newUser('deleter');
    const { page } = await browser.openSigned(signed, `webhooks/${webhook.id}`);
    await page.getByRole('button', { name: 'Disable' }).waitFor();
    await dataOf(api.deleteWebhook(webhook.id));
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.reload();
    await page.getByRole('alert').waitFor();
  });

  it('asks for another token when one ends, and goes on where one was', async () => {
    const manager = await service.createToken('mortal', [...ORDINARY, 'tokens:manage']);
    const api = service.api.withToken(manager);
    const made = await dataOf(api.createToken({ name: 'for the tab', scopes: ORDINARY }), 201);
    const { page } = await browser.openSigned({ url: service.url, token: made.token }, 'webhooks/new');
    await page.getByLabel('Endpoint URL').fill('https://example.com/half-written');
    await dataOf(api.revokeToken(made.id));
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await says(page, 'Your session has ended.');
    await page.getByRole('dialog').getByLabel('Access token').fill(manager);
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Endpoint URL').inputValue()).toBe('https://example.com/half-written');
  });

  it('ends what waits for changes when its token is revoked', async () => {
    const manager = await service.createToken('waiter', [...ORDINARY, 'tokens:manage']);
    const api = service.api.withToken(manager);
    const made = await dataOf(api.createToken({ name: 'for the tab', scopes: ORDINARY }), 201);
    const { page } = await browser.openSigned({ url: service.url, token: made.token });
    const waits = page.waitForRequest(/changedAfter=(?!now)/);
    await page.getByRole('link', { name: 'Live', exact: true }).click();
    await waits;
    await dataOf(api.revokeToken(made.id));
    await says(page, 'Your session has ended.');
  });

  it('counts down after 429, and then tries again by itself', async () => {
    const { signed } = await newUser('hasty');
    const { page } = await browser.openSigned(signed);
    await page.route('**/api/events?**', refuseOnce());
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await says(page, /Trying again in \d s/);
    await says(page, 'No events yet');
  });

  it('says that the service is away, and reads again when it is back', async () => {
    const { signed } = await newUser('patient');
    const proxy = await startProxy(Number(new URL(service.url).port));
    const url = `http://127.0.0.1:${proxy.port}`;
    const { page } = await browser.openSigned({ ...signed, url });
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await says(page, 'No deliveries yet');
    await proxy.cut();
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await says(page, /The service cannot be reached. Trying again in \d+ s/);
    await proxy.pass();
    await says(page, 'No events yet');
    await page.getByText(/Trying again in/).waitFor({ state: 'detached' });
    await proxy.stop();
  });

  it('says that another version answers', async () => {
    const { signed } = await newUser('updated');
    const { page } = await browser.openSigned(signed);
    await page.clock.install();
    let version = '9.9.8';
    await page.route('**/api/about', async (route) => {
      const answer = await route.fetch();
      const { data, ...rest } = (await answer.json()) as { data: object };
      await route.fulfill({ response: answer, json: { ...rest, data: { ...data, version, tryReceiver: true } } });
    });
    await page.reload();
    // Only with the first answer does the page know that there are receivers, and which version it is from.
    await page.getByRole('link', { name: 'Test receiver' }).waitFor();
    version = '9.9.9';
    await page.clock.fastForward(301_000);
    await says(page, 'The service was updated.');
  });

  it('asks for nothing when nobody has looked for five minutes, and goes on', async () => {
    const { api, signed, webhook } = await newUser('absent');
    const { page } = await browser.openSigned(signed);
    await page.clock.install();
    let asked = 0;
    page.on('request', (request) => (asked += request.url().includes('changedAfter') ? 1 : 0));
    const waits = page.waitForRequest(/changedAfter=(?!now)/);
    await page.getByRole('link', { name: 'Live', exact: true }).click();
    await waits;
    await look(page, false);
    await page.clock.fastForward(301_000);
    const before = asked;
    const event = await publish(api, 'job.started');
    await settledDeliveries(api, webhook, event);
    await page.clock.fastForward(60_000);
    expect(asked).toBe(before);
    const again = page.waitForResponse(/changedAfter=(?!now)/);
    await look(page, true);
    await again;
    await says(page, /\d new/);
  });

  it('works where every answer takes 400 ms', async () => {
    const { signed, webhook } = await newUser('slow');
    const proxy = await startProxy(Number(new URL(service.url).port));
    proxy.delay(200);
    const { page } = await browser.openSigned({ ...signed, url: `http://127.0.0.1:${proxy.port}` });
    await page.getByRole('link', { name: nameOf(webhook) }).click();
    await says(page, 'Response time p95');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Deliveries' }).click();
    await says(page, 'No deliveries yet');
    await proxy.stop();
  });

  it('is at home behind a prefix of a proxy', async () => {
    const { signed, webhook } = await newUser('prefixed');
    const proxy = await startPrefixes({ '/our/hooks': service.url });
    const url = `${proxy.origin}/our/hooks`;
    const { page } = await browser.openSigned({ ...signed, url });
    await page.getByRole('link', { name: nameOf(webhook) }).click();
    await page.waitForURL(`${url}/console/webhooks/${webhook.id}`);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.reload();
    await page.getByLabel('Endpoint URL').waitFor();
    await page.goto(`${url}/`);
    await screen(page, 'Overview');
    await proxy.stop();
  });

  it('signs a second tab in, and both are one session', async () => {
    const { signed } = await newUser('tabs');
    const { context } = await browser.openSigned(signed);
    const { page } = await browser.openIn(context, `${service.url}/console/deliveries`);
    await says(page, 'No deliveries yet');
  });

  it('works without a secure context, and says what cannot be copied there', async () => {
    const { api, signed, webhook } = await newUser('intranet');
    const [delivery] = await settledDeliveries(api, webhook, await publish(api, 'job.started'));
    const url = service.url.replace('127.0.0.1', INTRANET);
    const { page } = await browser.openSigned({ ...signed, url }, `deliveries/${delivery!.id}`);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await says(page, /Copying needs https or localhost/);
  });

  it('shows each time under the clock of its day', async () => {
    const { api, signed, webhook } = await newUser('berlin');
    const [delivery] = await settledDeliveries(api, webhook, await publish(api, 'job.started'));
    const [summer, winter] = ['2026-07-01T12:00:00Z', '2026-12-01T12:00:00Z'];
    const sql = 'update webhook_service.deliveries set scheduled_at = $1, attempted_at = $2 where id = $3';
    await service.database.query(sql, [summer, winter, delivery!.id]);
    const { page } = await browser.openSigned(signed, `deliveries/${delivery!.id}`, { timezoneId: 'Europe/Berlin' });
    await says(page, /0?1 Jul[a-z]* 2026, 14:00:00.000 (CEST|GMT\+2)/);
    await says(page, /0?1 Dec[a-z]* 2026, 13:00:00.000 (CET|GMT\+1)/);
  });

  it('discards its data when another user signs in', async () => {
    const { signed, webhook } = await newUser('first');
    const { page } = await browser.openSigned(signed);
    await page.getByRole('link', { name: nameOf(webhook) }).waitFor();
    await page.getByText('first', { exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.route('**/api/webhooks?**', (route) => route.abort());
    await signIn(page, await service.createToken('second', ORDINARY));
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('link', { name: nameOf(webhook) }).count()).toBe(0);
  });

  const failedDelivery = (api: typeof service.api, webhookId: string) =>
    waitFor(async () => (await pageOf(api.listDeliveries(webhookId, { status: 'failed' }))).rows[0], {
      what: 'a failed attempt',
    });
});

/** What the console calls a webhook without a description. */
const nameOf = ({ url }: { url: string }): string => url.replace(/^https?:\/\//, '');

/** Refuses the first request as the service does; the next one goes through. */
function refuseOnce(): (route: Route) => Promise<void> {
  let refused = false;
  return async (route) => {
    if (refused) return route.continue();
    refused = true;
    await route.fulfill({
      status: 429,
      headers: { 'retry-after': '2', 'x-request-id': 'r-1' },
      json: { success: false, error: 'Too many requests.', code: 'rate_limited', requestId: 'r-1' },
    });
  };
}

/** As a browser says that its tab is looked at, or is not any more. */
const look = (page: Page, isSeen: boolean): Promise<unknown> =>
  page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, value: ${!isSeen} });` +
      `document.dispatchEvent(new Event('visibilitychange'))`,
  );
