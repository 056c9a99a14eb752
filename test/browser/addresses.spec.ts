import { useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { subscribe } from '../e2e/stage/steps';
import { describeInBrowser, says } from './stage/browser';
import { startPrefixes } from './stage/prefix';

const ORDINARY = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];
/** What leads elsewhere where it is taken for a path, also behind a proxy that decodes what it forwards. */
const HOSTILE = [
  ...['../../../x/log', '..', '.', '../me', '..\\me', '..%2Fme', '..%252Fme', '%2e%2e/me', 'x/../../me'],
  ...['//x/log', '\\\\x\\log', 'me?x=', 'me#', 'a b', 'ü', '\u202e', ';a=b'],
];

describeInBrowser('An id in the address of the console', (browser) => {
  const service = useService({ RATE_LIMIT_PER_MINUTE: '0' });
  const receiver = useReceiver();

  it.each([
    ['the event that another one is like', (id: string) => `publish?like=${id}`],
    ['the delivery to verify', (id: string) => `verify?delivery=${id}`],
    ['a recovery', (id: string, webhookId: string) => `webhooks/${webhookId}/repair?recovery=${id}`],
    ['the webhook of a log', (id: string) => `deliveries?webhookId=${id}`],
    ['the webhook of what is live', (id: string) => `live?webhookId=${id}`],
    ['a webhook', (id: string) => `webhooks/${id}`],
    ['a webhook to repair', (id: string) => `webhooks/${id}/repair`],
    ['a delivery', (id: string) => `deliveries/${id}`],
    ['an event', (id: string) => `events/${id}`],
  ])('sends no request to another path: %s', async (_, pathOf) => {
    const token = await service.createToken('addressee', ORDINARY);
    const webhook = await subscribe(service.api.withToken(token), receiver.hook(), ['job.started']);
    const proxy = await startPrefixes({ '/a': service.url });
    const { page } = await browser.openSigned({ url: `${proxy.origin}/a`, token });
    const asked = new Set<string>();
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (request.headers().authorization) asked.add(pathname);
    });
    const go = (path: string) => page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/a/console/${path}`)})`);
    // In a path, the browser itself takes dots for folders.
    const inQuery = pathOf('', '').includes('?');
    for (const id of HOSTILE.filter((each) => inQuery || !/^\.+$/.test(each))) {
      await go('nowhere');
      await says(page, 'There is no such page');
      await go(pathOf(encodeURIComponent(id), webhook.id));
      await page.locator('main [role=alert]').first().waitFor();
    }
    const known = ['about', 'deliveries/count', 'event-types', 'stats', 'webhooks', `webhooks/${webhook.id}`];
    const expected = [...known, `webhooks/${webhook.id}/deliveries`].map((path) => `/a/api/${path}`);
    expect([...asked].filter((path) => !expected.includes(path))).toEqual([]);
    await page.close();
    await proxy.stop();
  });
});
