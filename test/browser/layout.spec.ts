import type { Locator, Page } from 'playwright-core';
import { useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { publish, settledDeliveries, subscribe } from '../e2e/stage/steps';
import { describeInBrowser, screen } from './stage/browser';

/** Sums up how far what is on a page moves by itself: https://web.dev/articles/cls. */
const OBSERVE = `
  globalThis.shifted = 0;
  globalThis.moved = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) {
      globalThis.shifted += entry.value;
      globalThis.moved.push(...entry.sources.map(({ node }) => node?.className || node?.nodeName));
    }
  }).observe({ type: 'layout-shift', buffered: true });`;
/**
 * Answers take longer on a busy machine: a screen waits ten times as long for them as `Settled` lets it, so that what is measured is
 * the order of things, not the speed of the machine.
 */
const BE_PATIENT = `
  const timeout = globalThis.setTimeout;
  globalThis.setTimeout = (call, ms, ...more) => timeout(call, ms === 30 || ms === 1000 ? 10 * ms : ms, ...more);`;
const MOST_SHIFT = 0.02;

describeInBrowser('The screens of the console', (browser) => {
  const service = useService({ MAX_RETRIES: '0', DISABLE_AFTER_FAILURES: '100' });
  const receiver = useReceiver();
  let paths: [string, string][];

  beforeAll(async () => {
    const { api } = service;
    const bad = await subscribe(api, receiver.hook({ status: 500 }), ['job.*']);
    for (let i = 0; i < 11; i++) await subscribe(api, receiver.hook(), ['*']);
    const event = await publish(api, 'job.started');
    const [failed] = await settledDeliveries(api, bad, event);
    paths = [
      ['', 'table tbody tr >> nth=9'],
      ['webhooks', 'table tbody tr >> nth=11'],
      ['webhooks/new', ':text("job.started")'],
      [`webhooks/${bad.id}`, ':text("http_status")'],
      [`webhooks/${bad.id}/settings`, 'button >> nth=5'],
      [`webhooks/${bad.id}/repair`, '.deliveries'],
      ['deliveries', 'table tbody tr >> nth=9'],
      [`deliveries/${failed!.id}`, ':text("x-service-signature")'],
      ['events', 'table tbody tr'],
      [`events/${event.id}`, '.timeline'],
      ['publish', '.cm-line'],
      ['event-types', ':text("job.started")'],
      ['tokens', ':text("Last used")'],
    ];
  });

  it.each([1280, 390])('do not move while they load, at %d px', async (width) => {
    const { page } = await browser.openSigned(service);
    await page.context().addInitScript(OBSERVE);
    await page.context().addInitScript(BE_PATIENT);
    await page.setViewportSize({ width, height: width < 600 ? 844 : 720 });
    const found: string[] = [];
    for (const [path, sign] of paths) {
      const { shifted, moved } = await shiftOf(page, `${service.url}/console/${path}`, sign);
      if (shifted > MOST_SHIFT) found.push(`${path}: ${shifted.toFixed(3)} by ${moved.join(', ')}`);
    }
    expect(found).toEqual([]);
  });

  it('show deliveries across the whole page, and all of a row beside an open one', async () => {
    const { page } = await browser.openSigned(service, 'deliveries', { viewport: { width: 1280, height: 720 } });
    const list = page.locator('.listed');
    const widthOf = async (of: Locator) => (await of.boundingBox())!.width;
    expect(await widthOf(list.locator('table'))).toBeGreaterThan((await widthOf(page.locator('main .screen'))) - 4);
    await list.locator('tbody a').first().click();
    await page.locator('.drawer .timeline').waitFor();
    expect(await widthOf(list.locator('table'))).toBeLessThanOrEqual(await widthOf(list));
    await list.getByRole('columnheader', { name: 'Created' }).waitFor();
  });

  async function shiftOf(page: Page, url: string, sign: string): Promise<{ shifted: number; moved: string[] }> {
    await page.goto(url);
    await screen(page, /./);
    await page.locator(`main ${sign}`).first().waitFor();
    await page.waitForLoadState('networkidle');
    return page.evaluate('({ shifted: globalThis.shifted, moved: globalThis.moved })');
  }
});
