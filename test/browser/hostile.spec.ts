import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type CreatedWebhook, dataOf, pageOf } from '../support/api';
import { useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { waitFor } from '../support/wait-for';
import { subscribe } from '../e2e/stage/steps';
import { describeInBrowser } from './stage/browser';
import { hostileTexts } from './stage/hostile-texts';

/** What a page must not have, because it comes from nothing but a text that was taken for a page. */
const FOREIGN = 'script:not([src]), img, iframe, object, embed, video, style, base, form[action], [onerror], [onload]';

describeInBrowser('Texts of others', (browser) => {
  const service = useService({ MAX_RETRIES: '0', RATE_LIMIT_PER_MINUTE: '0' });
  const receiver = useReceiver();
  let canary: Server;
  const asked: string[] = [];
  let texts: string[];
  let webhook: CreatedWebhook;

  beforeAll(async () => {
    canary = createServer((request, response) => {
      asked.push(String(request.url));
      response.end();
    }).listen(0, '127.0.0.1');
    await once(canary, 'listening');
    texts = hostileTexts(`http://127.0.0.1:${(canary.address() as AddressInfo).port}/taken`);
    expect(texts).toHaveLength(40);
    const { api } = service;
    // A long line, marks that no page shows, and headers that lead elsewhere.
    const bodies = [...texts.slice(0, 38), `${'x'.repeat(3000)}${texts[0]}`, `\0\u0001\u001b[31m${texts[0]}`];
    const hook = receiver.hook(
      ...bodies.map((body, i) => ({
        status: [500, 302, 418][i % 3],
        headers: { location: 'javascript:globalThis.taken=1', 'x-evil': '<script>globalThis.taken=1</script>' },
        body,
      })),
    );
    webhook = await subscribe(api, hook, ['job.started'], { description: texts[0]!.slice(0, 256) });
    for (const [i, text] of texts.entries()) {
      const data = {
        jobId: text,
        queue: text,
        name: text,
        attempt: 1,
        startedAt: new Date().toISOString(),
        more: { [text]: text },
      };
      await dataOf(api.publish({ event: 'job.started', data }), 202);
      await dataOf(
        api.createToken({ name: text.replace(/[^\x20-\x7e]/g, '').slice(0, 120), scopes: ['webhooks:read'] }),
        201,
      );
      await dataOf(
        api.createWebhook({ url: hook.url, events: ['job.completed'], description: text.slice(0, 256) }),
        201,
      );
      if (i % 10 === 0) await hook.received(1);
    }
    const areOver = async () =>
      (await pageOf(api.listAllDeliveries({ status: 'failed', limit: 250 }))).rows.length >= 40;
    await waitFor(areOver, { what: 'forty attempts' });
  });
  afterAll(() => {
    canary.close();
  });

  it('appear as plain text on every screen that shows them', async () => {
    const { page } = await browser.openSigned(service);
    const { rows } = await pageOf(service.api.listAllDeliveries({ limit: 250 }));
    // Each with what is there when all is.
    const paths = [
      ['', '.webhook-table'],
      ...['deliveries', 'events', 'live'].map((path) => [path, 'table']),
      ['tokens', '.token'],
      [`webhooks/${webhook.id}/deliveries`, 'table'],
      ['webhooks', 'table'],
      [`webhooks/${webhook.id}/settings`, '.picker label >> nth=3'],
      [`webhooks/${webhook.id}/repair`, 'table >> nth=1'],
      ...rows.flatMap(({ id, eventId }) => [
        [`deliveries?open=${id}`, '.drawer .message'],
        [`deliveries/${id}`, `dd:text(${JSON.stringify(id)})`],
        [`events/${eventId}`, `[href$="like=${eventId}"]`],
      ]),
    ] as const;
    expect(paths.length).toBeGreaterThanOrEqual(88);
    for (const [path, sign] of paths) {
      // As a click on a link does: without a new page.
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console/${path}`)})`);
      await page.locator(`main ${sign}`).first().waitFor();
      expect(await page.evaluate(`document.querySelectorAll(${JSON.stringify(FOREIGN)}).length`)).toBe(0);
    }
    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
    expect(asked).toEqual([]);
  });
});
