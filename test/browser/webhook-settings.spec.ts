import type { Page } from 'playwright-core';
import { dataOf, pageOf } from '../support/api';
import { useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { publish, settledDeliveries, subscribe } from '../e2e/stage/steps';
import { waitFor } from '../support/wait-for';
import { describeInBrowser, says, screen } from './stage/browser';
import { hostileTexts } from './stage/hostile-texts';
import { byMouse } from './stage/ways';

const ORDINARY = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];

describeInBrowser('The settings of a webhook', (browser) => {
  const service = useService({
    ...{ MAX_RETRIES: '3', RETRY_BASE_DELAY_MS: '60000', RETRY_FACTOR: '2', RATE_LIMIT_PER_MINUTE: '0' },
    ...{ DELIVERY_TIMEOUT_MS: '8000' },
  });
  const receiver = useReceiver();

  /** A user with a webhook, whose settings are open. `saved` has the bodies of all `PATCH` requests. */
  async function open(user: string, more: Record<string, unknown> = {}, scopes = ORDINARY) {
    const api = await service.apiFor(user);
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started'], { description: `${user}’s`, ...more });
    const token = await service.createToken(user, scopes);
    const { page } = await browser.openSigned({ url: service.url, token }, `webhooks/${webhook.id}/settings`);
    const saved: unknown[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') saved.push(request.postDataJSON());
    });
    const read = () => dataOf(api.readWebhook(webhook.id));
    return { api, hook, webhook, page, saved, read };
  }

  const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

  async function save(page: Page, name: string): Promise<void> {
    await section(page, name).getByRole('button', { name: 'Save' }).click();
    await section(page, name).getByText('Saved.').waitFor();
  }

  it('are saved by section, each with its changes only', async () => {
    const { page, saved, read } = await open('sections', { metadata: { team: 'money' } });
    await page.getByRole('textbox', { name: 'Description' }).fill('Billing');
    await save(page, 'Name');
    await page.getByRole('textbox', { name: 'Endpoint URL' }).fill('https://example.com/hooks');
    await save(page, 'Destination');
    await section(page, 'Events').getByRole('checkbox', { name: 'follower.*' }).check();
    await save(page, 'Events');
    await page.getByRole('textbox', { name: 'Deadline in ms' }).fill('2000');
    await save(page, 'Deadline and rate');
    await page.getByRole('textbox', { name: 'Attempts per second' }).fill('0.5');
    await save(page, 'Deadline and rate');
    await page.getByRole('button', { name: 'Add label' }).click();
    await page.getByLabel('Name of label 2').fill('stage');
    await page.getByLabel('Value of label 2').fill('test');
    await page.getByRole('textbox', { name: 'Own id' }).fill('billing:1');
    await save(page, 'Labels and own id');
    expect(saved).toEqual([
      { description: 'Billing' },
      { url: 'https://example.com/hooks' },
      { events: ['job.started', 'follower.*'] },
      { timeoutMs: 2000 },
      { maxPerSecond: 0.5 },
      { metadata: { team: 'money', stage: 'test' }, externalId: 'billing:1' },
    ]);
    expect(await read()).toMatchObject({ description: 'Billing', maxPerSecond: 0.5, metadata: { stage: 'test' } });
    await page.getByRole('textbox', { name: 'Deadline in ms' }).fill('');
    await page.getByRole('button', { name: 'Remove label 1' }).click();
    await save(page, 'Deadline and rate');
    await save(page, 'Labels and own id');
    expect(saved.slice(-2)).toEqual([{ timeoutMs: null }, { metadata: { stage: 'test' } }]);
  });

  it('are taken back by Undo, except for headers, whose old values nobody knows', async () => {
    const { page, saved, read } = await open('undone', { maxPerSecond: 5, metadata: { team: 'money' } });
    const undo = (name: string) => section(page, name).getByRole('button', { name: 'Undo' });
    await page.getByRole('textbox', { name: 'Attempts per second' }).fill('');
    await page.getByRole('textbox', { name: 'Deadline in ms' }).fill('2000');
    await save(page, 'Deadline and rate');
    await undo('Deadline and rate').click();
    await waitFor(async () => (await read()).maxPerSecond === 5, { what: 'the old rate' });
    const rate = page.getByRole('textbox', { name: 'Attempts per second' });
    await waitFor(async () => (await rate.inputValue()) === '5', { what: 'the old rate in the field' });
    expect(saved).toEqual([
      { maxPerSecond: null, timeoutMs: 2000 },
      { maxPerSecond: 5, timeoutMs: null },
    ]);
    // Undo is a change like any other.
    await undo('Deadline and rate').click();
    await waitFor(async () => (await read()).timeoutMs === 2000, { what: 'the new deadline again' });
    await page.getByRole('button', { name: 'Add header' }).click();
    await page.getByLabel('Name of header 1').fill('X-Api-Key');
    await page.getByLabel('Value of header 1').fill('key');
    await save(page, 'Headers');
    expect(await undo('Headers').count()).toBe(0);
  });

  it.each([['de-DE'], ['ar-EG']])('read and show numbers alike in a browser of %s', async (locale) => {
    const { webhook, read } = await open(`from-${locale}`, { maxPerSecond: 0.5, timeoutMs: 1500 });
    const token = await service.createToken(`from-${locale}`, ORDINARY);
    const path = `webhooks/${webhook.id}/settings`;
    const { page } = await browser.openSigned({ url: service.url, token }, path, { locale });
    const rate = page.getByRole('textbox', { name: 'Attempts per second' });
    expect([await rate.inputValue(), await page.getByRole('textbox', { name: 'Deadline in ms' }).inputValue()]).toEqual(
      ['0.5', '1500'],
    );
    await rate.fill('2.5');
    await save(page, 'Deadline and rate');
    expect(await read()).toMatchObject({ maxPerSecond: 2.5, timeoutMs: 1500 });
    // With a comma it is no number of the API's; nobody gets 25 for 2,5.
    await rate.fill('2,5');
    await section(page, 'Deadline and rate').getByRole('button', { name: 'Save' }).click();
    await expectFault(page, 'Attempts per second', 'Enter a number, or leave the field empty.');
    await page.goto(`${service.url}/console/`);
    await screen(page, 'Overview');
    expect(await page.locator('main').innerText()).not.toMatch(/[\u0660-\u0669]/);
  });

  it('show each error at its field, which gets the focus, and others below', async () => {
    const { page, api, webhook } = await open('faulty');
    await subscribe(api, receiver.hook(), ['job.started'], { externalId: 'taken' });
    const url = page.getByRole('textbox', { name: 'Endpoint URL' });
    await url.fill('ftp://example.com');
    await section(page, 'Destination').getByRole('button', { name: 'Save' }).click();
    await expectFault(page, 'Endpoint URL', /^Enter a full URL/);
    expect(await section(page, 'Destination').getByRole('alert').count()).toBe(0);
    await section(page, 'Destination').getByRole('button', { name: 'Discard' }).click();
    expect(await url.inputValue()).toBe(webhook.url);
    await page.getByRole('textbox', { name: 'Attempts per second' }).fill('many');
    await section(page, 'Deadline and rate').getByRole('button', { name: 'Save' }).click();
    await expectFault(page, 'Attempts per second', 'Enter a number, or leave the field empty.');
    await page.getByRole('textbox', { name: 'Own id' }).fill('taken');
    await section(page, 'Labels and own id').getByRole('button', { name: 'Save' }).click();
    await section(page, 'Labels and own id').getByRole('alert').waitFor();
    for (const [i, name] of ['good', 'not good'].entries()) {
      await page.getByRole('button', { name: 'Add label' }).click();
      await page.getByLabel(`Name of label ${i + 1}`).fill(name);
    }
    await section(page, 'Labels and own id').getByRole('button', { name: 'Save' }).click();
    await expectFault(page, 'Name of label 2', /"not good"/);
  });

  it('replace, keep and remove headers, whose values are never shown', async () => {
    const { page, saved, api, hook, webhook } = await open('headers', {
      headers: { 'X-Api-Key': 'key-1', 'X-Old': 'old', 'X-Kept': 'kept' },
    });
    const value = page.getByLabel('Value of X-Api-Key');
    expect([await value.inputValue(), await value.getAttribute('placeholder')]).toEqual(['', '•••']);
    await value.fill('key-2');
    await page.getByRole('button', { name: 'Remove header 1' }).click();
    await page.getByRole('button', { name: 'Add header' }).click();
    await page.getByLabel('Name of header 3').fill('Host');
    await page.getByLabel('Value of header 3').fill('example.com');
    await section(page, 'Headers').getByRole('button', { name: 'Save' }).click();
    await expectFault(page, 'Name of header 3', /^headers\.Host/);
    await page.getByLabel('Name of header 3').fill('X-Tenant');
    await page.getByLabel('Value of header 3').fill('7');
    await save(page, 'Headers');
    expect(saved.at(-1)).toEqual({ headers: { 'X-Api-Key': 'key-2', 'X-Old': null, 'X-Tenant': '7' } });
    await settledDeliveries(api, webhook, await publish(api, 'job.started'));
    const { headers } = hook.calls[0]!;
    expect(headers).toMatchObject({ 'x-api-key': 'key-2', 'x-kept': 'kept', 'x-tenant': '7' });
    expect(headers).not.toHaveProperty('x-old');
    // Another origin needs them anew.
    await page.getByRole('textbox', { name: 'Endpoint URL' }).fill('https://example.com/');
    await page.getByLabel('New value of X-Api-Key').fill('key-3');
    await save(page, 'Destination');
    const all = { 'X-Api-Key': 'key-3', 'X-Kept': null, 'X-Tenant': null };
    expect(saved.at(-1)).toEqual({ url: 'https://example.com/', headers: all });
    await section(page, 'Headers').getByLabel('Name of header 2').waitFor({ state: 'detached' });
  });

  it('check a filter against a recent event before it is saved', async () => {
    const { page, saved, api, webhook } = await open('filtered');
    await publish(api, 'follower.gained');
    await settledDeliveries(api, webhook, await publish(api, 'job.started'));
    await page.reload();
    await page.getByRole('button', { name: 'Add condition' }).click();
    await page.getByLabel('Path of condition 1').fill('data.attempt');
    await page.getByLabel('Operator of condition 1').selectOption('≥');
    await page.getByLabel('Value of condition 1').fill('many');
    await section(page, 'Filter').getByRole('button', { name: 'Save' }).click();
    await expectFault(page, 'Value of condition 1', /\.gte/);
    await page.getByLabel('Value of condition 1').fill('1');
    await page.getByRole('button', { name: 'Add condition' }).click();
    await page.getByLabel('Path of condition 2').fill('data.queue');
    await page.getByLabel('Operator of condition 2').selectOption('is one of');
    await page.getByLabel('Value of condition 2').fill('sms, "5"');
    const filter = section(page, 'Filter');
    const events = await filter.getByLabel('Event to check against').locator('option').allInnerTexts();
    expect(events.every((text) => text.startsWith('job.started'))).toBe(true);
    await filter.getByRole('button', { name: 'Check against a recent event' }).click();
    await filter.getByText('The webhook does not receive this event.').waitFor();
    const lines = await filter.locator('.conditions > li').allInnerTexts();
    expect(lines.map((text) => text.replace(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/^matched data\.attempt ≥ 1 · found \d+$/),
      expect.stringMatching(/^did not match data\.queue is one of sms, "5" · found "\w+"$/),
    ]);
    await save(page, 'Filter');
    const conditions = { 'data.attempt': { gte: 1 }, 'data.queue': ['sms', '5'] };
    expect(saved.at(-1)).toEqual({ filter: conditions });
    await filter.getByRole('button', { name: 'Edit as JSON' }).click();
    const json = filter.getByLabel('Filter (JSON)');
    expect(JSON.parse(await json.inputValue())).toEqual(conditions);
    await json.fill('{"any": [{"event": {"like": 1}}]}');
    await says(page, 'This filter can be edited only as JSON');
    await filter.getByRole('button', { name: 'Save' }).click();
    await expectFault(page, 'Filter (JSON)', /is not an operator/);
    await json.fill('{"data.a": ');
    await filter.getByRole('button', { name: 'Save' }).click();
    await expectFault(page, 'Filter (JSON)', /^This is not JSON/);
    await json.fill('');
    await save(page, 'Filter');
    expect(saved.at(-1)).toEqual({ filter: null });
  });

  it('preview each format', async () => {
    const { page, saved } = await open('formats');
    const format = section(page, 'Format');
    await format.getByText('"event": "job.started"').waitFor();
    await format.getByRole('radio', { name: 'CloudEvents' }).check();
    await format.getByText('content-type: application/cloudevents+json').waitFor();
    await format.getByRole('radio', { name: 'Slack' }).check();
    await format.getByText('"mrkdwn": false').waitFor();
    await expect(format.getByRole('button', { name: 'Only some fields' }).count()).resolves.toBe(0);
    await format.getByRole('radio', { name: 'Payload' }).check();
    await format.getByRole('button', { name: 'Only some fields' }).click();
    await format.getByLabel('Fields, one path a line').fill('jobId\n\nno.such ');
    await format.getByText(/^content-type: application\/json\s+\{\s+"jobId": "[^"]+"\s+\}$/).waitFor();
    await save(page, 'Format');
    expect(saved).toEqual([{ format: 'payload', fields: ['jobId', 'no.such'] }]);
  });

  it('say the plan of retries in a sentence', async () => {
    const { page, saved, read } = await open('retries');
    const retries = section(page, 'Retries');
    await retries.getByText('up to 3 times: after 1 min, 2 min and 4 min, about 7 min in all.').waitFor();
    await retries.getByRole('button', { name: 'Own plan' }).click();
    const delays = retries.getByLabel('Delays before each retry');
    expect(await delays.inputValue()).toBe('1m, 2m, 4m');
    await delays.fill('1m, soon');
    await retries.getByRole('button', { name: 'Save' }).click();
    await expectFault(page, 'Delays before each retry', /^soon is not a delay/);
    await delays.fill('90s, 2h');
    await retries.getByText('up to 2 times: after 1 min 30 s and 2 h, about 2 h 1 min 30 s in all.').waitFor();
    await save(page, 'Retries');
    await delays.fill('');
    await retries.getByText('A failed event is not sent again.').waitFor();
    await save(page, 'Retries');
    await retries.getByRole('button', { name: 'Use the service’s plan' }).click();
    await save(page, 'Retries');
    expect(saved).toEqual([{ retryDelaysMs: [90_000, 7_200_000] }, { retryDelaysMs: [] }, { retryDelaysMs: null }]);
    expect((await read()).retryDelaysMs).toBeNull();
  });

  it('rotate the secret in three clicks, and say until when both sign', async () => {
    const { page, api, hook, webhook } = await open('rotating');
    await page.goto(`${service.url}/console/webhooks/${webhook.id}`);
    const way = byMouse();
    await way.press(page.getByRole('link', { name: 'Settings' }));
    await way.press(page.getByRole('button', { name: 'Rotate secret' }));
    const dialog = page.getByRole('dialog');
    const hours = dialog.getByRole('textbox', { name: 'Old secret stays valid for' });
    await hours.fill('200');
    await dialog.getByRole('button', { name: 'Rotate secret' }).click();
    await expectFault(page, 'Old secret stays valid for', /overlapSeconds/);
    await hours.fill('0');
    await dialog.getByText('The old secret stops signing at once').waitFor();
    await hours.fill('48');
    await dialog.getByText('Both secrets sign until').waitFor();
    await way.press(dialog.getByRole('button', { name: 'Rotate secret' }));
    const secret = await dialog.locator('code').innerText();
    expect(secret).toMatch(/^whsec_/);
    expect(secret).not.toBe(webhook.secret);
    expect(way.count).toBe(3);
    const { previousSecretExpiresAt } = await dataOf(api.readWebhook(webhook.id));
    expect(Date.parse(previousSecretExpiresAt!) / 3_600_000).toBeCloseTo(Date.now() / 3_600_000 + 48, 0);
    await dialog.getByText('Both secrets sign until').waitFor();
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await settledDeliveries(api, webhook, await publish(api, 'job.started'));
    expect(hook.calls[0]!.headers['x-service-signature-previous']).toBeDefined();
  });

  it('delete a webhook whose name one has typed', async () => {
    const { page, api, webhook } = await open('deleting', { description: '  Old \u202e one' });
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    const dialog = page.getByRole('dialog');
    const button = dialog.getByRole('button', { name: 'Delete webhook' });
    const typed = dialog.getByRole('textbox');
    await typed.fill(new URL(webhook.url).host);
    expect(await button.isDisabled()).toBe(true);
    await typed.fill('Old ⟨U+202E⟩ one');
    await button.click();
    await screen(page, 'Webhooks');
    await page.waitForURL(`${service.url}/console/webhooks`);
    expect((await pageOf(api.listWebhooks({}))).rows).toEqual([]);
    const { webhook: unnamed, page: other } = await open('unnamed', { description: null });
    await other.getByRole('button', { name: 'Delete webhook' }).click();
    await other.getByLabel(`Type ${new URL(unnamed.url).host} to confirm`).waitFor();
  });

  it('are all shown to a token that only reads, with the reason why it cannot save', async () => {
    const { page } = await open('reading', { filter: { 'data.attempt': { eq: 2 } } }, [
      'webhooks:read',
      'deliveries:read',
    ]);
    await page.getByLabel('Path of condition 1').waitFor();
    expect(await page.getByRole('button', { name: 'Discard' }).count()).toBe(0);
    const buttons = page.getByRole('button', { name: /^(Save|Rotate secret|Delete webhook)$/ });
    const count = await buttons.count();
    expect(count).toBe(11);
    for (let i = 0; i < count; i++) expect(await buttons.nth(i).isDisabled()).toBe(true);
    expect(await page.locator('.setting').getByText('Your token lacks the scope webhooks:write.').count()).toBe(11);
    await page.getByRole('button', { name: 'Check against the example' }).click();
    await says(page, 'The webhook does not receive this event.');
  });

  it('show texts of others as texts', async () => {
    const texts = hostileTexts('http://127.0.0.1:9/taken');
    const { page, api, webhook } = await open('hostile', {
      metadata: Object.fromEntries(texts.slice(0, 18).map((text, i) => [`label${i}`, text.slice(0, 200)])),
      filter: { 'data.name': { nin: texts.slice(18, 30) }, 'data.queue': texts[30] },
      description: texts[1],
    });
    const more = {
      data: { jobId: texts[0], queue: texts[2], name: texts[3], attempt: 1, startedAt: '2026-01-15T09:30:00Z' },
    };
    await publish(api, 'job.started', more);
    await page.reload();
    await page.getByRole('button', { name: 'Check against a recent event' }).click();
    await page.locator('.conditions > li').first().waitFor();
    for (const name of ['Discord', 'Teams', 'Slack']) await page.getByRole('radio', { name }).check();
    await section(page, 'Format').getByText('"mrkdwn": false').waitFor();
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await page.locator('main :is(script, img, iframe, object, svg:not(.icon), style)').count()).toBe(0);
    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
    await dataOf(api.deleteWebhook(webhook.id));
  });
});

describeInBrowser('A new webhook', (browser) => {
  const service = useService();
  const receiver = useReceiver();

  async function open(user: string, path = '') {
    const token = await service.createToken(user, ORDINARY);
    const { page } = await browser.openSigned({ url: service.url, token }, path);
    return { page, api: service.api.withToken(token) };
  }

  it('with two events is created and tested in four clicks, and its secret cannot be lost by accident', async () => {
    const { page, api } = await open('maker');
    const hook = receiver.hook();
    const way = byMouse();
    await way.press(page.getByRole('link', { name: 'New webhook' }).first());
    await page.getByRole('textbox', { name: 'Endpoint URL' }).fill(hook.url);
    await says(page, 'What the receiver gets');
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    await way.press(page.getByRole('checkbox', { name: 'job.started' }));
    await way.press(page.getByRole('checkbox', { name: 'follower.gained' }));
    await way.press(page.getByRole('button', { name: 'Create and test' }));
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/200 in/).waitFor();
    const secret = await dialog.locator('code').innerText();
    expect(secret).toMatch(/^whsec_/);
    expect(way.count).toBe(4);
    const [webhook] = (await pageOf(api.listWebhooks({}))).rows;
    expect(webhook).toMatchObject({ url: hook.url, events: ['job.started', 'follower.gained'] });
    await page.keyboard.press('Escape');
    await asksBefore(page, 'location.reload()');
    await page.evaluate('history.back()');
    expect(await dialog.locator('code').innerText()).toBe(secret);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.waitForURL(`${service.url}/console/webhooks/${webhook!.id}`);
    await page.reload();
    await page.getByRole('link', { name: 'Settings' }).waitFor();
  });

  it('shows its secret though the test fails', async () => {
    const { page } = await open('untested', 'webhooks/new?events=job.started');
    await page.getByRole('textbox', { name: 'Endpoint URL' }).fill(receiver.hook().url);
    await page.route('**/test', (route) => route.abort());
    await page.getByRole('button', { name: 'Create and test' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect(await page.getByRole('dialog').locator('code').innerText()).toMatch(/^whsec_/);
  });

  it('shows each error at its field, focuses the first, and others below', async () => {
    const { page } = await open('clumsy', 'webhooks/new');
    await page.getByRole('textbox', { name: 'Secret' }).fill('short');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await expectFault(page, 'Endpoint URL', /^Enter a full URL/);
    await says(page, /^Choose at least one event/);
    await says(page, /^secret must/);
    expect(await page.locator('[aria-invalid="true"]').count()).toBe(3);
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('textbox', { name: 'Endpoint URL' }).fill('https://example.com/');
    await page.getByRole('textbox', { name: 'Secret' }).fill('');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await expectFault(page, /^\*/, /^Choose at least one event/);
    const details = ['url', 'header.x'].map((field) => ({ field, code: 'invalid', message: `${field} is wrong` }));
    const json = { success: false, error: 'Both are wrong', code: 'validation_failed', requestId: 'r-1', details };
    await page.route('**/api/webhooks', (route) => route.fulfill({ status: 400, json }));
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await expectFault(page, 'Endpoint URL', 'url is wrong');
    expect(await page.getByRole('alert').innerText()).toMatch(/^header\.x is wrong/);
  });
});

/** Waits until the field has the focus, and says that it is faulty and why. */
async function expectFault(page: Page, name: string | RegExp, why: string | RegExp): Promise<void> {
  const field = page.locator('[aria-invalid="true"]:focus');
  await field.waitFor();
  const named = page.getByRole(typeof name === 'string' ? 'textbox' : 'checkbox', { name });
  await named.and(field).waitFor();
  const ids = (await field.getAttribute('aria-describedby'))?.split(' ') ?? [];
  const [text] = await page.locator(`.fault:is(${ids.map((id) => `#${id}`).join(', ')})`).allInnerTexts();
  expect(text).toMatch(why);
}

/** Waits until the browser asks whether to leave the page, and stays. */
async function asksBefore(page: Page, action: string): Promise<void> {
  const asked = page.waitForEvent('dialog');
  void page.evaluate(action);
  const dialog = await asked;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.dismiss();
}
