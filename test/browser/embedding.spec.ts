import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FrameLocator, Page } from 'playwright-core';
import { dataOf } from '../support/api';
import { useService } from '../support/service';
import { waitFor } from '../support/wait-for';
import { describeInBrowser, screen, signIn } from './stage/browser';
import { type HostPages, show, startHostPages, type Told, toldTo } from './stage/host-page';

describeInBrowser('The console in a frame', (browser) => {
  let host: HostPages;
  let stranger: HostPages;
  beforeAll(async () => ([host, stranger] = await Promise.all([startHostPages(), startHostPages()])));
  afterAll(() => Promise.all([host.stop(), stranger.stop()]));
  const service = useService(() => ({
    CONSOLE_FRAME_ANCESTORS: `https://app.example,${host.origin}`,
    CONSOLE_NAME: 'Acme <b>hooks</b>',
    CONSOLE_ACCENT: '#ffd400',
  }));

  /** Requests a link, as the backend of a host application does. */
  const linkFor = async (userId: string, scopes = ['webhooks:read', 'webhooks:write', 'deliveries:read']) =>
    service.url +
    (await dataOf(service.api.createConsoleLink({ userId, scopes, path: '/console/deliveries' }), 201)).url;

  const openHost = async (url: string) => {
    const { page, context, errors } = await browser.open(host.origin, {}, [service.url]);
    return { page, context, errors, frame: await show(page, url) };
  };
  const heading = (frame: FrameLocator, name: string) => frame.getByRole('heading', { level: 1, name }).waitFor();
  const waitForTold = (page: Page, isIt: (told: Told) => boolean, what: string) =>
    waitFor(async () => (await toldTo(page)).filter(isIt).length > 0, { what });
  const isEnd = ({ data }: Told) => data.type === 'webhooks:session-ended';
  const addressOf = (page: Page) => page.frames()[1]!.url();

  it('signs in by the code in its address, without a click', async () => {
    const { page, frame } = await openHost(await linkFor('ann'));
    await heading(frame, 'Deliveries');
    expect(addressOf(page)).toBe(`${service.url}/console/deliveries`);
    await frame.getByRole('button', { name: /ann/ }).click();
    await frame.getByLabel('Theme').waitFor();
    expect(await frame.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
  });

  it('tells the host how high it is, and lets it give that height', async () => {
    const { page, frame } = await openHost(await linkFor('tall'));
    await heading(frame, 'Deliveries');
    const heightTold = async () => (await toldTo(page)).filter(({ data }) => data.type === 'webhooks:height').at(-1);
    await waitFor(async () => ((await heightTold())?.data.height ?? 0) > 300, { what: 'a height' });
    expect((await heightTold())?.origin).toBe(service.url);
    const heights: number[] = [];
    // What it tells does not depend on what it gets: no two chase each other.
    for (const given of [200, 3000]) {
      await page.locator('iframe').evaluate((each: { height: string }, px) => void (each.height = String(px)), given);
      await frame.getByRole('link', { name: 'Webhooks', exact: true }).click();
      await heading(frame, 'Webhooks');
      await frame.getByRole('link', { name: 'Deliveries' }).click();
      await heading(frame, 'Deliveries');
      heights.push((await heightTold())!.data.height!);
    }
    expect(heights[1]).toBe(heights[0]);
  });

  it('has the name and the accent of the operator, as text and where it can be read', async () => {
    const { page, frame } = await openHost(await linkFor('brand'));
    await heading(frame, 'Deliveries');
    await frame.getByRole('link', { name: 'Acme <b>hooks</b>' }).waitFor();
    const accent = await page
      .frames()[1]!
      .evaluate(`getComputedStyle(document.documentElement).getPropertyValue('--accent')`);
    expect(accent).toMatch(/^light-dark\(#[0-9a-f]{6}, #ffd400\)$/);
  });

  it('is shown in no other page', async () => {
    const { page, errors } = await browser.open(stranger.origin, {}, [service.url]);
    await show(page, await linkFor('eve'));
    await waitFor(() => errors.some((each) => each.includes('frame-ancestors')), { what: 'the refusal' });
    expect(errors.splice(0)).toHaveLength(1);
    expect(await toldTo(page)).toEqual([]);
  });

  it.each([
    ['tokens:manage', 'admin'],
    ['users:manage', 'admin'],
    ['event-types:manage', 'admin'],
    ['events:broadcast', 'wide'],
  ])('refuses a session with %s, and ends it', async (scope, user) => {
    const { page, frame } = await openHost(await linkFor(user, ['webhooks:read', scope]));
    await frame.getByText(scope).waitFor();
    await heading(frame, 'Not signed in');
    // Another link of this kind would not help.
    expect((await toldTo(page)).filter(isEnd)).toEqual([]);
    const sessions = async () =>
      (await dataOf(service.api.listTokens({ userId: user }))).filter(({ session }) => session);
    await waitFor(async () => (await sessions()).length === 0, { what: 'the end of the session' });
  });

  it('tells the host when its session has ended, and goes on with the next link', async () => {
    const { page, frame } = await openHost(await linkFor('short'));
    await heading(frame, 'Deliveries');
    const [session] = await dataOf(service.api.listTokens({ userId: 'short' }));
    await dataOf(service.api.revokeToken(session!.id));
    await frame.getByRole('link', { name: 'Events' }).click();
    await heading(frame, 'Not signed in');
    await waitForTold(page, isEnd, 'the end of the session');
    expect((await toldTo(page)).filter(isEnd)).toEqual([
      { origin: service.url, data: { type: 'webhooks:session-ended' } },
    ]);
    expect(await frame.getByLabel('Access token').count()).toBe(0);
    await show(page, await linkFor('short'));
    await heading(frame, 'Deliveries');
    // The same address but for its code: the browser itself would not load it again.
    await show(page, await linkFor('other'));
    await frame.getByRole('button', { name: /other/ }).waitFor();
  });

  it('works in a sandbox with the permissions that the documents name', async () => {
    const docs = readFileSync(join(__dirname, '..', '..', 'docs', 'console.md'), 'utf8');
    const [, sandbox] = /`(allow-scripts [a-z -]+)`/.exec(docs)!;
    const { page } = await browser.open(host.origin, {}, [service.url]);
    await page
      .locator('iframe')
      .evaluate((frame: { sandbox: unknown }, value) => void (frame.sandbox = value), sandbox);
    const frame = await show(page, await linkFor('boxed'));
    await heading(frame, 'Deliveries');
    const download = page.waitForEvent('download');
    await frame.getByRole('button', { name: 'Export JSON' }).click();
    expect((await download).suggestedFilename()).toMatch(/\.json$/);
    await frame.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await frame.getByRole('link', { name: 'New webhook' }).first().click();
    await frame.getByRole('textbox', { name: 'Endpoint URL' }).fill('https://example.com/');
    await frame.getByRole('checkbox', { name: 'job.*' }).check();
    await frame.getByRole('button', { name: 'Create', exact: true }).click();
    await frame
      .getByRole('dialog')
      .locator('code')
      .getByText(/^whsec_/)
      .waitFor();
  });

  it('has no session without a link, and takes no token', async () => {
    const { page, frame } = await openHost(`${service.url}/console`);
    await heading(frame, 'Not signed in');
    expect(await frame.getByRole('textbox').count()).toBe(0);
    await waitForTold(page, isEnd, 'that there is no session');
  });

  it('neither asks other tabs nor answers them', async () => {
    const { page: tab, context } = await browser.open(`${service.url}/console/`);
    await signIn(tab, await service.createToken('tab', ['webhooks:read', 'deliveries:read']));
    const { page } = await browser.openIn(context, host.origin, [service.url]);
    const frame = await show(page, `${service.url}/console/`);
    await heading(frame, 'Not signed in');
    await show(page, await linkFor('framed'));
    await frame.getByRole('button', { name: /framed/ }).waitFor();
    const { page: next } = await browser.openIn(context, `${service.url}/console/`);
    await next.getByRole('button', { name: /tab/ }).waitFor();
    await tab.reload();
    await screen(tab, 'Overview');
    await tab.getByRole('button', { name: /tab/ }).waitFor();
  });

  const reload = (page: Page) =>
    page
      .frames()[1]!
      .evaluate('location.reload()')
      .catch(() => undefined);

  it('works where the browser keeps nothing for other sites', async () => {
    const { page, frame } = await openHost(await linkFor('private'));
    await heading(frame, 'Deliveries');
    await expect(page.frames()[1]!.evaluate('sessionStorage.length')).rejects.toThrow('Access is denied');
    await frame.getByRole('button', { name: /private/ }).click();
    await frame.getByLabel('Theme').selectOption('dark');
    await frame.getByLabel('Theme').press('Escape');
    await frame.getByRole('link', { name: 'Publish', exact: true }).click();
    await heading(frame, 'Publish');
    await reload(page);
    await waitForTold(page, isEnd, 'that there is no session');
  });

  it('stays signed in after a reload where the browser keeps what it may', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'profile-'));
    await mkdir(join(folder, 'Default'));
    await writeFile(join(folder, 'Default', 'Preferences'), JSON.stringify({ profile: { cookie_controls_mode: 0 } }));
    try {
      const { page } = await browser.openProfile(folder, host.origin, [service.url]);
      const frame = await show(page, await linkFor('ordinary'));
      await heading(frame, 'Deliveries');
      expect(await page.frames()[1]!.evaluate('sessionStorage.length')).toBe(1);
      await reload(page);
      await frame.getByRole('link', { name: 'Access tokens' }).click();
      await heading(frame, 'Access tokens');
      expect((await toldTo(page)).filter(isEnd)).toEqual([]);
      // A used code ends what was there: the host has decided for somebody else.
      const url = await linkFor('next');
      await fetch(`${service.url}/api/console-sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code: url.split('#code=')[1] }),
      });
      await show(page, url);
      await heading(frame, 'Not signed in');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describeInBrowser('A link to the page that is open', (browser) => {
  const service = useService();

  it('is opened, although only the fragment changes', async () => {
    const token = await service.createToken('here', ['webhooks:read', 'deliveries:read']);
    const { page } = await browser.openSigned({ url: service.url, token }, 'deliveries');
    const link = await dataOf(service.api.createConsoleLink({ userId: 'there', path: '/console/deliveries' }), 201);
    await page.goto(service.url + link.url);
    await page.getByRole('button', { name: 'Continue as there' }).click();
    await page.getByRole('button', { name: /there/ }).waitFor();
    expect(page.url()).toBe(`${service.url}/console/deliveries`);
  });
});
