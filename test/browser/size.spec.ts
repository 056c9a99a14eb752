import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { useReceiver } from '../support/receiver';
import { serviceFile, useService } from '../support/service';
import { publish, settledDeliveries, subscribe } from '../e2e/stage/steps';
import { describeInBrowser, says, screen } from './stage/browser';

const KB = 1000;
const assets = join(serviceFile('console'), 'assets');

describe('What the console weighs', () => {
  const sizeOf = (end: string) =>
    readdirSync(assets)
      .filter((name) => name.endsWith(end))
      .reduce((sum, name) => sum + statSync(join(assets, name)).size, 0);

  it('is at most 80 kB of scripts for the first screen, 250 in all, 14 of styles and 90 of fonts', () => {
    const page = readFileSync(join(serviceFile('console'), 'index.html'), 'utf8');
    // The page names the script, and the chunks that this imports at once.
    const first = [...page.matchAll(/assets\/([^"]+\.js)"/g)].map(
      ([, name]) => statSync(join(assets, `${name}.br`)).size,
    );
    expect(first.reduce((sum, size) => sum + size)).toBeLessThan(80 * KB);
    expect(sizeOf('.js.br')).toBeLessThan(250 * KB);
    expect(sizeOf('.css.br')).toBeLessThan(14 * KB);
    expect(sizeOf('.woff2')).toBeLessThan(90 * KB);
  });
});

/** Milliseconds for which the page itself has kept a core busy: other processes do not count. */
async function busyMsOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN);
  };
}

describeInBrowser('Who has much', (browser) => {
  const service = useService({
    RATE_LIMIT_PER_MINUTE: '0',

    MAX_WEBHOOKS_PER_USER: '1000',
  });
  const receiver = useReceiver();
  /** Ten times what was measured. */
  const MOST_BUSY_MS = 5000;

  beforeAll(async () => {
    const { api } = service;
    const webhook = await subscribe(api, receiver.hook(), ['job.started']);
    for (let i = 0; i < 249; i++) await publish(api, 'job.started');
    await settledDeliveries(api, webhook, await publish(api, 'job.started'));
    for (let i = 0; i < 120; i++) await subscribe(api, receiver.hook(), ['follower.*'], { active: i % 7 > 0 });
  });

  it('sees the ten worst webhooks first, a hundred in their list, and then the others', async () => {
    const { page } = await browser.openSigned(service);
    await screen(page, 'Overview');
    const rows = page.locator('.webhook-table tbody tr');
    await rows.nth(9).waitFor();
    expect(await rows.count()).toBe(10);
    expect(await rows.getByText('Disabled').count()).toBe(10);
    const busyMs = await busyMsOf(page);
    const before = await busyMs();
    await page.reload();
    await rows.nth(9).waitFor();
    expect((await busyMs()) - before).toBeLessThan(MOST_BUSY_MS);
    await page.getByRole('link', { name: 'All webhooks' }).click();
    await rows.nth(99).waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await rows.nth(120).waitFor();
    expect(await rows.count()).toBe(121);
  });

  it('has 250 rows of the log before him, and can go on', async () => {
    const { page } = await browser.openSigned(service, 'deliveries');
    const rows = page.locator('tbody tr');
    for (let shown = 50; shown < 250; shown += 50) {
      await rows.nth(shown - 1).waitFor();
      await page.getByRole('button', { name: 'Show more' }).click();
    }
    await rows.nth(249).waitFor();
    await rows.nth(249).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Redeliver 1' }).click();
    await says(page, '1 was queued.');
  });
});
