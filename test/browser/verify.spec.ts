import { createHmac } from 'node:crypto';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { type CreatedWebhook, dataOf, type DeliveryDetail } from '../support/api';
import { useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { EXAMPLES } from '../e2e/stage/examples';
import { publish, settledDeliveries, subscribe } from '../e2e/stage/steps';
import { describeInBrowser, INTRANET, says, screen } from './stage/browser';
import { hostileTexts } from './stage/hostile-texts';
import { byKeyboard, byMouse } from './stage/ways';

const MOST_CLICKS = 3;
/** Elements that only a text that became markup makes. */
const FOREIGN = 'script:not([src]), img, iframe, object, embed, video, base, form[action], [onerror], [onload]';
const STORED = `(async () => JSON.stringify({
  local: { ...localStorage }, session: { ...sessionStorage }, cookie: document.cookie, state: history.state,
  databases: await indexedDB.databases(), caches: await caches.keys(), url: location.href, html: document.documentElement.outerHTML,
}))()`;

describeInBrowser('The page that verifies a signature', (browser) => {
  const service = useService({ MAX_RETRIES: '0', RATE_LIMIT_PER_MINUTE: '0' });
  const receiver = useReceiver();
  let webhook: CreatedWebhook;
  let delivery: DeliveryDetail;
  let another: DeliveryDetail;

  beforeAll(async () => {
    const { api } = service;
    webhook = await subscribe(api, receiver.hook({ status: 401 }), ['job.started']);
    const send = async (name: string) => {
      const event = await publish(api, 'job.started', { data: { ...EXAMPLES['job.started'], name } });
      const [failed] = await settledDeliveries(api, webhook, event);
      return dataOf(api.readDelivery(webhook.id, failed!.id));
    };
    delivery = await send('Zoë');
    another = await send('Ada');
  });

  const open = async (path = `verify?delivery=${delivery.id}`, options = {}) => {
    const { page } = await browser.openSigned(service, path, options);
    await screen(page, 'Verify a signature');
    await page.getByLabel('Body', { exact: true }).waitFor();
    return page;
  };
  const sentBody = () => delivery.request!.body;
  const headersOf = ({ request }: DeliveryDetail, more: Record<string, string> = {}) =>
    Object.entries({ ...request!.headers, ...more })
      .map(([name, value]) => `${name}: ${String(value)}`)
      .join('\n');
  const headers = (page: Page) => page.getByRole('textbox', { name: 'Headers' });
  const body = (page: Page) => page.getByLabel('Body', { exact: true });
  const file = (name: string, content: string | Buffer) => ({
    ...{ name, mimeType: 'application/octet-stream' },
    buffer: Buffer.from(content as string),
  });
  const verify = async (page: Page, secret: string) => {
    await page.getByLabel('Secret', { exact: true }).fill(secret);
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
  };

  it.each(['clicks', 'the keyboard'])('names the cause, from a failed delivery, by %s alone', async (how) => {
    const { page } = await browser.openSigned(service, `deliveries/${delivery.id}`);
    const way = how === 'clicks' ? byMouse() : byKeyboard(page);
    await way.press(page.getByRole('link', { name: 'Verify its signature' }));
    await screen(page, 'Verify a signature');
    expect(way.count).toBe(1);
    await body(page).fill(JSON.stringify(JSON.parse(sentBody()), null, 2));
    await page.getByLabel('Secret', { exact: true }).fill(webhook.secret);
    await way.press(page.getByRole('button', { name: 'Verify', exact: true }));
    await says(page, 'The signature is not valid.');
    await says(page, 'The secret is right: it signed this delivery.');
    await says(page, /parsed and serialized again.* pretty-printed with 2 spaces/);
    expect(way.count).toBeLessThanOrEqual(MOST_CLICKS);
  });

  it('keeps the secret in the page: no request leaves, and nothing stores it', async () => {
    const { page, context } = await browser.openSigned(service, `verify?delivery=${delivery.id}`);
    await body(page).waitFor();
    const asked: string[] = [];
    context.on('request', (request) => asked.push(request.url()));
    await verify(page, webhook.secret);
    await says(page, 'The signature is valid.');
    await page.getByLabel('Signature that your code computed').fill('q83v');
    await verify(page, 'another secret entirely');
    await says(page, 'The signature is not valid.');
    for (const secret of [webhook.secret, 'another secret entirely']) {
      expect(await page.evaluate(STORED)).not.toContain(secret);
    }
    expect(await page.getByLabel('Secret', { exact: true }).getAttribute('type')).toBe('password');
    expect(asked).toEqual([]);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.goBack();
    await body(page).waitFor();
    expect(await page.getByLabel('Secret', { exact: true }).inputValue()).toBe('');
    expect(asked.filter((url) => /\/api\/(?!about|stats|webhooks|deliveries)/.test(url))).toEqual([]);
  });

  it('asks for the delivery and nothing else', async () => {
    const page = await open('verify');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.evaluate(`history.pushState(null, '', '/console/verify?delivery=${delivery.id}')`);
    await says(page, 'The body equals the sent body, byte for byte.');
    expect(asked).toEqual([`/api/deliveries/${delivery.id}`]);
  });

  const whsec = () => webhook.secret;
  const decoded = () => Buffer.from(whsec().slice('whsec_'.length), 'base64');
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text);
  it.each<[string, () => string, RegExp]>([
    ['another secret', () => 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', /The secret is wrong: it did not sign/],
    ['quotes', () => `"${whsec()}"`, /spaces, a line break or quotes around it/],
    ['a prefix', () => `v1,${whsec()}`, /starts with v1,/],
    ['no whsec_', () => whsec().slice('whsec_'.length), /lacks whsec_/],
  ])('names the mistake in the secret: %s', async (_, secret, cause) => {
    const page = await open();
    await verify(page, secret());
    await says(page, 'The signature is not valid.');
    await says(page, cause);
    await page.close();
  });

  it.each<[string, () => string | Buffer, RegExp, string]>([
    ['a line break at the end', () => `${sentBody()}\r\n`, /a line break \(CRLF\) at its end/, '⟨CR⟩'],
    ['another charset', () => Buffer.from(sentBody(), 'latin1'), /written again as Latin-1/, '⟨0xEB⟩'],
    ['a charset guessed wrongly', () => Buffer.from(sentBody()).toString('latin1'), /was read as Latin-1/, 'Ã'],
    ['a byte order mark', () => `\ufeff${sentBody()}`, /byte order mark/, '⟨U+FEFF⟩'],
    ['another text', () => sentBody().replace('Zoë', 'Zoe'), /The body differs from the sent body/, 'ë'],
  ])('names the change of the body and shows the place: %s', async (_, received, cause, mark) => {
    const page = await open();
    await page.getByLabel('Body or whole request as a file').setInputFiles(file('body.json', received()));
    await verify(page, webhook.secret);
    await says(page, 'The signature is not valid.');
    await says(page, cause);
    await page.locator('mark').getByText(mark).waitFor();
    await page.close();
  });

  it.each<[string, () => string, RegExp]>([
    ['base64', () => hmac(whsec(), sentBody()).digest('base64'), /It is base64\./],
    ['the decoded key', () => hmac(decoded(), sentBody()).digest('hex'), /The key is the decoded secret\./],
    ['the right one', () => hmac(whsec(), sentBody()).digest('hex'), /the right one for x-service-signature/],
    ['another body', () => hmac(whsec(), 'other').digest('hex'), /for another secret or another body/],
  ])('explains the signature that a receiver computed: %s', async (_, computed, cause) => {
    const page = await open();
    await page.getByLabel('Signature that your code computed').fill(computed());
    await verify(page, webhook.secret);
    await says(page, 'The signature is valid.');
    await says(page, cause);
    await page.close();
  });

  it('recognizes another delivery, a changed time and missing headers', async () => {
    const page = await open();
    await headers(page).fill(headersOf(another));
    await verify(page, webhook.secret);
    await says(page, `This is another delivery: webhook-id is ${another.eventId}`);
    await headers(page).fill(headersOf(delivery, { 'webhook-timestamp': '1' }));
    await verify(page, webhook.secret);
    await says(page, 'x-service-signature is valid, webhook-signature is not.');
    await headers(page).fill(headersOf(delivery).replaceAll(/^webhook-.*\n?/gm, ''));
    await verify(page, webhook.secret);
    await says(page, 'The signature is valid, but no time is signed.');
    await page.getByRole('button', { name: 'Restore the sent request' }).click();
    await verify(page, webhook.secret);
    await says(page, 'The signature is valid.');
  });

  it('says how old a request is', async () => {
    const page = await open();
    await page.clock.setFixedTime(Date.now() + 2 * 3_600_000);
    await verify(page, webhook.secret);
    await says(page, 'The signature is valid, but the request is too old.');
    await says(page, /signed 2 h ago; receivers accept at most 5 min/);
  });

  it('recognizes the previous secret', async () => {
    const { api } = service;
    const rotated = await subscribe(api, receiver.hook(), ['job.completed']);
    await dataOf(api.rotateSecret(rotated.id, { overlapSeconds: 3600 }));
    const [attempt] = await settledDeliveries(api, rotated, await publish(api, 'job.completed'));
    const page = await open(`verify?delivery=${attempt!.id}`);
    await verify(page, rotated.secret);
    await says(page, 'The signature is valid, with the previous secret.');
  });

  it('takes whole requests, pasted or dropped', async () => {
    const page = await open('verify', { permissions: ['clipboard-read', 'clipboard-write'] });
    const raw = `POST /in HTTP/1.1\r\n${headersOf(delivery).replaceAll('\n', '\r\n')}\r\n\r\n${sentBody()}`;
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(raw)})`);
    await headers(page).focus();
    await page.keyboard.press('Control+V');
    await says(page, 'Headers and body were read from the request.');
    expect(await body(page).inputValue()).toBe(sentBody());
    await verify(page, webhook.secret);
    await says(page, 'The signature is valid.');

    await body(page).fill('');
    const saved = JSON.stringify({ success: true, data: delivery });
    await page.evaluate(`{
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(saved)}], 'delivery.json'));
      document.querySelector('main form').dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }`);
    await says(page, /delivery\.json, \d+ bytes, unchanged/);
    await verify(page, webhook.secret);
    await says(page, 'The signature is valid.');
    await page.getByRole('button', { name: 'Edit as text' }).click();
    expect(await body(page).inputValue()).toBe(sentBody());
  });

  it('reports missing input at its field', async () => {
    const page = await open('verify');
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
    const secret = page.getByLabel('Secret', { exact: true });
    await says(page, 'Enter the secret of the webhook.');
    expect(await secret.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await secret.getAttribute('aria-invalid')).toBe('true');
    await headers(page).fill('no header');
    await body(page).fill('{}');
    await verify(page, webhook.secret);
    await says(page, 'This line is not “name: value”: no header');
    expect(await headers(page).evaluate((element) => element.matches(':focus'))).toBe(true);
  });

  it('shows the command where browsers cannot compute', async () => {
    const url = service.url.replace('127.0.0.1', INTRANET);
    const { page } = await browser.openSigned({ url, token: service.token }, `verify?delivery=${delivery.id}`);
    await says(page, /this page cannot verify here/);
    await says(page, 'npx webhooks verify request.txt');
    expect(await page.getByRole('button', { name: 'Verify', exact: true }).isDisabled()).toBe(true);
    await body(page).fill('{}');
    await says(page, /^Byte 2 differs/);
  });

  it('shows hostile texts as text', async () => {
    const page = await open();
    const texts = hostileTexts('http://127.0.0.1:1/taken');
    for (const text of texts) {
      await headers(page).fill(`${headersOf(another)}\nwebhook-id: ${text}\nx-service-signature: ${text}`);
      await page.getByLabel('Body or whole request as a file').setInputFiles(file(text.slice(0, 80), text));
      await page.getByLabel('Signature that your code computed').fill(text);
      await verify(page, webhook.secret);
      await says(page, 'The signature is not valid.');
      expect(await page.evaluate(`document.querySelectorAll(${JSON.stringify(FOREIGN)}).length`)).toBe(0);
    }
    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
  });

  it.each([320, 1280])('is accessible with its results, and fits, at %d px', async (width) => {
    const page = await open();
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(axe.source);
    const found: string[] = [];
    const look = async (state: string) => {
      for (const [colorScheme, rules] of [
        ['light', ''],
        ['dark', "{ runOnly: ['cat.color'] }"],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${rules})`);
        found.push(...violations.map(({ id }) => `${state}, ${colorScheme}: ${id}`));
      }
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      if (overflow > 0) found.push(`${state}: ${overflow} px too wide`);
    };
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
    await says(page, 'Enter the secret of the webhook.');
    await look('errors');
    await verify(page, webhook.secret);
    await says(page, 'The signature is valid.');
    await look('valid');
    await page.getByLabel('Body or whole request as a file').setInputFiles(file('x'.repeat(200), 'x'.repeat(2000)));
    await verify(page, webhook.secret);
    await says(page, 'The signature is not valid.');
    await look('invalid');
    expect(found).toEqual([]);
  });
});
