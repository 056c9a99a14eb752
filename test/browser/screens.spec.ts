import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { dataOf } from '../support/api';
import { type Answer, useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { waitFor } from '../support/wait-for';
import { publish, settledDeliveries, subscribe } from '../e2e/stage/steps';
import { describeInBrowser, screen } from './stage/browser';

/** Looked at by people, with LONG=1; git ignores it. */
const SCREENSHOTS = join(__dirname, '..', '..', '.screenshots');
const isLong = process.env.LONG === '1';
const WIDTHS = isLong ? [320, 390, 1280] : [320, 1280];
/** The other scheme has other colours, and nothing else. */
const SCHEMES = [
  ['light', ''],
  ['dark', "{ runOnly: ['cat.color'] }"],
] as const;

/** So much has happened in the last 24 hours: by the hour, more in the afternoon, with failures now and then. */
const A_DAY = `
  insert into webhook_service.attempt_counts
    (webhook_id, user_id, minutes, status, at, error_code, duration_class, count)
  select $1, $2, 60, status, date_trunc('hour', now()) - make_interval(hours => hour), code, class, count
  from generate_series(1, 23) hour
  cross join lateral (values
    ('succeeded', '', 12, (40 + 35 * sin(hour / 4.0))::integer),
    ('failed', 'http_status', 10, case when $3::integer > 20 and hour > 6 then 0 else ($3::integer * abs(cos(hour)))::integer end),
    ('failed', 'timeout', 0, case when $3::integer > 5 and hour < 4 then 4 else 0 end)
  ) made (status, code, class, count)
  where count > 0`;

describeInBrowser('Every screen of the console', (browser) => {
  const service = useService({
    ...{ MAX_RETRIES: '3', RETRY_BASE_DELAY_MS: '10', RETRY_FACTOR: '1' },
    ...{ DISABLE_AFTER_FAILURES: '2', DISABLE_AFTER_HOURS: '0' },
  });
  const receiver = useReceiver();
  /** Name, path, and a text that is there when all is. */
  let paths: [string, string, string][];

  /** A receiver with a name that a person can read. */
  const hookAt = (host: string, ...answers: Answer[]) => ({
    url: receiver.hook(...answers).url.replace('127.0.0.1', `${host}.localhost`),
  });

  beforeAll(async () => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    const { api } = service;
    const { userId } = await dataOf(api.me());
    const out = {
      status: 500,
      headers: { 'content-type': 'application/json' },
      body: '{"error":"database is locked"}',
    };
    const good = await subscribe(api, hookAt('orders'), ['*']);
    const slow = await subscribe(api, hookAt('billing', { status: 503 }, {}), ['operation.*', 'job.*']);
    const busy = await subscribe(api, hookAt('analytics', { status: 429, headers: { 'retry-after': '1800' } }), [
      'operation.complete',
    ]);
    const bad = await subscribe(api, hookAt('crm', out), ['follower.*', 'job.started']);
    const full = await subscribe(api, hookAt('full'), ['follower.lost'], {
      ...{ metadata: { team: 'billing' }, headers: { 'x-api-key': 'key' }, externalId: 'full', maxPerSecond: 5 },
      ...{ filter: { 'data.followersCount': { gte: 100 } }, retryDelaysMs: [60_000, 3_600_000], format: 'slack' },
    });
    const url = `${receiver.hook().url}?path=${'a-long-name/'.repeat(20)}`;
    const long = await subscribe(api, { url: url.padEnd(2048, 'x') }, ['follower.lost'], { active: false });
    for (const [{ id }, failures] of [
      [good, 0],
      [slow, 3],
      [busy, 9],
      [bad, 30],
    ] as const) {
      await service.database.query(A_DAY, [id, userId, failures]);
    }
    const event = await publish(api, 'operation.complete', { userId });
    await settledDeliveries(api, slow, event);
    await publish(api, 'follower.gained', { userId });
    const failing = await publish(api, 'job.started', { userId });
    const [failed] = await settledDeliveries(api, bad, failing);
    const isDisabled = async () => !(await dataOf(api.readWebhook(bad.id))).active;
    await waitFor(isDisabled, { what: 'the webhook to be disabled' });
    const shop = await dataOf(api.createAccount({ provider: 'push', handle: 'Readers of the shop' }), 201);
    for (const followers of [[], [{ id: '1', username: 'ada@example.social' }]]) {
      await dataOf(api.putFollowers(shop.id, { followers }));
    }
    const unread = await dataOf(api.createAccount({ provider: 'push', handle: 'Unread' }), 201);
    const toFail = "update webhook_service.accounts set last_error = 'a.example returned status 502.' where id = $1";
    await service.database.query(toFail, [unread.id]);
    paths = [
      ['overview', '', 'Gave up, 24 h'],
      ['new-webhook', 'webhooks/new', 'What the receiver gets'],
      ['webhooks', 'webhooks', 'No traffic'],
      ['webhook', `webhooks/${bad.id}`, 'http_status'],
      ['webhook-deliveries', `webhooks/${good.id}/deliveries`, 'Delivered'],
      ['webhook-settings', `webhooks/${bad.id}/settings`, 'job.completed'],
      ['webhook-long', `webhooks/${long.id}`, 'Disabled'],
      ['webhook-settings-full', `webhooks/${full.id}/settings`, '"mrkdwn": false'],
      ['webhook-recoveries', `webhooks/${bad.id}/recoveries`, 'No recoveries yet.'],
      ['repair', `webhooks/${bad.id}/repair`, 'http_status'],
      ['log', 'deliveries', 'Delivered'],
      ['log-filtered', 'deliveries?status=canceled&trigger=event', 'Nothing matches these filters.'],
      ['log-drawer', `deliveries?open=${failed!.id}`, 'Shown here'],
      ['delivery', `deliveries/${failed!.id}`, 'x-service-signature'],
      ['live', 'live', 'Delivered'],
      ['events', 'events', 'job.started'],
      ['story', `events/${event.id}`, 'Delivered'],
      ['publish', 'publish', 'This will reach'],
      ['event-types', 'event-types', 'job.started'],
      ['event-type', 'event-types/job.started', 'export interface'],
      ['verify', 'verify', 'The result appears here.'],
      ['verify-delivery', `verify?delivery=${failed!.id}`, 'byte for byte'],
      ['receiver', 'receiver', 'Test receivers are available only'],
      ['tokens', 'tokens', 'Last used'],
      ['accounts', 'accounts', 'When you push a list'],
      ['account', `accounts/${shop.id}`, 'follower.gained'],
      ['account-failed', `accounts/${unread.id}`, 'a.example returned status 502.'],
      ['not-found', 'nowhere', 'Overview'],
    ];
  });

  it.each(WIDTHS)('is accessible, and as wide as it may be, at %d px', async (width) => {
    const { url } = await dataOf(service.api.createConsoleLink({ userId: 'alice' }), 201);
    const { page } = await browser.open(service.url + url, { viewport: { width, height: 900 } });
    await page.getByRole('button', { name: 'Continue as alice' }).waitFor();
    const found = await problemsOf(page, `continue-as-${width}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByLabel('Access token').waitFor();
    found.push(...(await problemsOf(page, `sign-in-${width}`)));
    await page.getByLabel('Access token').fill(service.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await screen(page, 'Overview');
    for (const [name, path, text] of paths) {
      await page.goto(`${service.url}/console/${path}`);
      await page
        .locator(`main :text(${JSON.stringify(text)}):visible, main [aria-label^=${JSON.stringify(text)}]`)
        .first()
        .waitFor();
      found.push(...(await problemsOf(page, `${name}-${width}`)));
    }
    await page.goto(`${service.url}/console/`);
    await page.locator('.badge').first().waitFor();
    await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
    if (isLong) await page.screenshot({ path: join(SCREENSHOTS, `overview-${width}-forced.png`) });
    const border = await page.evaluate(`getComputedStyle(document.querySelector('.badge')).borderTopWidth`);
    // Colours of one's own are gone: what they have set apart has an edge.
    expect(border).toBe('1px');
    expect(found).toEqual([]);
  });

  /** What axe finds in both schemes, and how far it is too wide. */
  async function problemsOf(page: Page, name: string): Promise<string[]> {
    const found: string[] = [];
    await page.evaluate(axe.source);
    for (const [colorScheme, rules] of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      if (isLong) await page.screenshot({ path: join(SCREENSHOTS, `${name}-${colorScheme}.png`), fullPage: true });
      const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${rules})`);
      for (const { id, nodes } of violations) {
        found.push(`${name}, ${colorScheme}: ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
      }
    }
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    if (overflow > 0) found.push(`${name}: ${overflow} px too wide`);
    const cards = await page.evaluate<number>(
      '[...document.querySelectorAll("main .card")].filter((card) => card.scrollWidth > card.clientWidth + 1).length',
    );
    if (cards > 0) found.push(`${name}: ${cards} cards are too narrow for what they show`);
    return found;
  }
});
