import type { BrowserContext, Page } from 'playwright-core';
import { type ConsoleSession, dataOf, pageOf } from '../support/api';
import { startService, useService } from '../support/service';
import { waitFor } from '../support/wait-for';
import { describeInBrowser, says, screen, signIn } from './stage/browser';
import { startPrefixes } from './stage/prefix';

const ORDINARY = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];

describeInBrowser('A session of the console', (browser) => {
  const service = useService();

  /** A link for a user, with the scopes that links have by default: tokens:manage is none of them. */
  const linkFor = async (userId: string) =>
    service.url + (await dataOf(service.api.createConsoleLink({ userId }), 201)).url;

  const newToken = (userId: string) => service.createToken(userId, ORDINARY);

  /** Whether the service takes the token. */
  const isLive = async (token: string) => (await service.api.withToken(token).me()).status === 200;

  it('from a link ends at sign-out in all tabs, and a reload does not restore it', async () => {
    const { page, context } = await browser.openLink(await linkFor('alice'), 'alice');
    await screen(page, 'Overview');
    const { page: other } = await browser.openIn(context, `${service.url}/console/deliveries`);
    await says(other, 'No deliveries yet');
    const { token } = await keptIn(page);
    expect(await isLive(token)).toBe(true);
    await signOut(page, 'alice');
    await waitFor(async () => !(await isLive(token)), { what: 'the end of the session' });
    await screen(other, 'Sign in');
    for (const each of [page, other]) {
      await each.reload();
      await screen(each, 'Sign in');
    }
    const { page: next } = await browser.openIn(context, `${service.url}/console/`);
    await screen(next, 'Sign in');
  });

  it('of a tab that has signed out is not had back from a tab that signs in later', async () => {
    const { page, context } = await browser.openSigned({ url: service.url, token: await newToken('early') });
    await signOut(page, 'early');
    await screen(page, 'Sign in');
    const { page: other } = await browser.openIn(context, `${service.url}/console/`);
    await signIn(other, await newToken('late'));
    await page.reload();
    await screen(page, 'Sign in');
  });

  it('of another user, in another tab, ends with the sign-out too', async () => {
    const { page, context } = await browser.openSigned({ url: service.url, token: await newToken('ann') });
    const { page: other } = await browser.openIn(context, `${service.url}/console/`);
    await screen(other, 'Overview');
    await other.goto(await linkFor('ben'));
    await other.getByRole('button', { name: 'Continue as ben' }).click();
    await says(other, 'ben');
    const { token } = await keptIn(other);
    await signOut(page, 'ann');
    await screen(other, 'Sign in');
    await waitFor(async () => !(await isLive(token)), { what: 'the end of the other session' });
  });

  it('replaces a pasted token, which the page does not keep', async () => {
    const token = await newToken('careful');
    const { page } = await browser.openSigned({ url: service.url, token });
    expect(await everythingKeptIn(page)).not.toContain(token);
    const session = await keptIn(page);
    const asked = page.waitForRequest('**/api/deliveries?**');
    await page.getByRole('link', { name: 'Deliveries' }).click();
    expect((await asked).headers().authorization).toBe(`Bearer ${session.token}`);
    const { tokenId, expiresAt } = await dataOf(service.api.withToken(session.token).me());
    expect(Date.parse(expiresAt!) - Date.now()).toBeLessThanOrEqual(12 * 3_600_000);
    const { rows } = await pageOf(service.api.listTokens({ userId: 'careful' }));
    expect(rows.filter(({ session: isSession }) => isSession)).toMatchObject([{ id: tokenId, scopes: ORDINARY }]);
    await signOut(page, 'careful');
    await screen(page, 'Sign in');
    await waitFor(async () => !(await isLive(session.token)), { what: 'the end of the session' });
    expect(await isLive(token)).toBe(true);
  });

  it('begins also when its user has the maximum number of tokens', async () => {
    const token = await service.createToken('hoarder', [...ORDINARY, 'tokens:manage']);
    const api = service.api.withToken(token);
    for (let i = 1; i < 100; i++) await dataOf(api.createToken({ name: String(i), scopes: ORDINARY }), 201);
    const { page } = await browser.openSigned({ url: service.url, token });
    expect(await everythingKeptIn(page)).not.toContain(token);
  });

  it('is left also while the service is away, and is ended when it is back', async () => {
    const { page, context } = await browser.openSigned({ url: service.url, token: await newToken('offline') });
    const { token } = await keptIn(page);
    await context.setOffline(true);
    await signOut(page, 'offline');
    await screen(page, 'Sign in');
    await says(page, /could not end the session/);
    expect(await everythingKeptIn(page)).not.toContain(token);
    await page.getByRole('button', { name: 'Try again' }).click();
    await says(page, /could not end the session/);
    expect(await isLive(token)).toBe(true);
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText(/could not end the session/).waitFor({ state: 'detached' });
    expect(await isLive(token)).toBe(false);
  });

  it('is the same in a copy of its tab', async () => {
    const { page, context } = await browser.openSigned({ url: service.url, token: await newToken('copied') });
    const copy = await copyOf(page, context);
    await screen(copy, 'Overview');
    expect(await keptIn(copy)).toEqual(await keptIn(page));
    await signOut(copy, 'copied');
    await screen(page, 'Sign in');
  });

  it('belongs to one console of the origin: a console under another prefix can neither use nor end it', async () => {
    const other = await startService();
    const proxy = await startPrefixes({ '/a': service.url, '/b': other.url });
    try {
      const [a, b] = [`${proxy.origin}/a`, `${proxy.origin}/b`];
      const { page, context } = await browser.openSigned({ url: a, token: await newToken('alice') });
      const { token } = await keptIn(page);
      const foreign: string[] = [];
      context.on('request', (request) => {
        const isForeign = request.url().startsWith(b) && request.headers().authorization === `Bearer ${token}`;
        if (isForeign) foreign.push(request.url());
      });
      const { page: there } = await browser.openIn(context, `${b}/console/`);
      await screen(there, 'Sign in');
      await page.goto(`${b}/console/`);
      await screen(page, 'Sign in');
      await signIn(there, other.token);
      await page.goto(`${a}/console/`);
      await screen(page, 'Overview');
      await signOut(page, 'alice');
      await screen(page, 'Sign in');
      await there.reload();
      await screen(there, 'Overview');
      await page.goto(`${b}/console/`);
      await screen(page, 'Overview');
      expect(foreign).toEqual([]);
    } finally {
      await proxy.stop();
      await other.stop();
    }
  });

  it('is taken from no message, and ended by none, that is not of its form', async () => {
    const { page, context } = await browser.openSigned({ url: service.url, token: await newToken('steady') });
    const session = await keptIn(page);
    const { page: neighbor } = await browser.openIn(context, `${service.url}/health/live`);
    // A signed-in console would answer the new tab, too.
    await page.close();
    await neighbor.evaluate(
      `const channel = new BroadcastChannel('webhooks.session /console');
       channel.onmessage = () => ${JSON.stringify(malformed(session))}.forEach((each) => channel.postMessage(each));`,
    );
    const { page: next } = await browser.openIn(context, `${service.url}/console/`);
    await screen(next, 'Sign in');
    await signIn(next, await newToken('steadfast'));
    const { page: last } = await browser.openIn(context, `${service.url}/console/`);
    await screen(last, 'Overview');
    await says(last, 'steadfast');
    await next.getByRole('link', { name: 'Deliveries' }).click();
    await says(next, 'No deliveries yet');
  });

  it.each(['', '{', '5', '"x"', '[]', '{}', '{"token":"x"}'])(
    'is not read from %j in the storage of a tab',
    async (text) => {
      const { page, errors } = await browser.open(`${service.url}/console/`);
      await page.evaluate(`sessionStorage.setItem('webhooks.session /console', ${JSON.stringify(text)})`);
      await page.reload();
      await screen(page, 'Sign in');
      expect(errors).toEqual([]);
    },
  );

  it('is read anew by a page that the browser has kept while its tab was elsewhere', async () => {
    const { page } = await browser.openSigned({ url: service.url, token: await newToken('cached') });
    // As a page of the same tab leaves it that has signed out.
    await page.evaluate(`for (const key of Object.keys(sessionStorage)) sessionStorage.setItem(key, 'null')`);
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
    await screen(page, 'Sign in');
  });
});

describeInBrowser('A link to the console', (browser) => {
  const service = useService();

  const linkFor = async (userId: string) =>
    service.url + (await dataOf(service.api.createConsoleLink({ userId }), 201)).url;

  /** How many sessions a user has. */
  const sessionsOf = async (userId: string) =>
    (await pageOf(service.api.listTokens({ userId }))).rows.filter(({ session }) => session).length;

  const isEnded = (userId: string) =>
    waitFor(async () => (await sessionsOf(userId)) === 0, { what: `the end of the session of ${userId}` });

  it('is exchanged at once, and signs the user in only after confirmation', async () => {
    const link = await linkFor('mallory');
    const asked: string[] = [];
    const { page, context } = await browser.open(`${service.url}/health/live`);
    page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.goto(link);
    await says(page, 'This link signs you in as mallory.');
    expect(asked.filter((each) => each.includes('/api/'))).toEqual(['POST /api/console-sessions', 'GET /api/me']);
    const code = link.split('#code=')[1];
    expect((await service.api.withToken(null).beginSession({ code })).status).toBe(401);
    expect(await everythingKeptIn(page)).not.toContain('wns_');
    const { page: other } = await browser.openIn(context, `${service.url}/console/`);
    await screen(other, 'Sign in');
    await page.getByRole('button', { name: 'Continue as mallory' }).click();
    await screen(page, 'Overview');
    await page.reload();
    await screen(page, 'Overview');
    expect(await sessionsOf('mallory')).toBe(1);
  });

  it('ends its session when it is declined', async () => {
    const { page } = await browser.open(await linkFor('declined'));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByLabel('Access token').waitFor();
    await isEnded('declined');
    await page.reload();
    await page.getByLabel('Access token').waitFor();
  });

  it.each(['reload', 'goto', 'close'] as const)('ends its session when its page is left by %s', async (how) => {
    const userId = `left-by-${how}`;
    const { page } = await browser.open(await linkFor(userId));
    await says(page, `This link signs you in as ${userId}.`);
    expect(await sessionsOf(userId)).toBe(1);
    if (how === 'reload') await page.reload();
    else if (how === 'goto') await page.goto('about:blank');
    else await page.close({ runBeforeUnload: true });
    await isEnded(userId);
  });

  it('ends its session when its page goes into the browser’s cache, and comes out of it signed out', async () => {
    const { page } = await browser.open(await linkFor('cached'));
    await says(page, 'This link signs you in as cached.');
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`);
    await isEnded('cached');
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
    await page.getByLabel('Access token').waitFor();
  });

  it('ends its session when another user stays signed in', async () => {
    const signed = { url: service.url, token: await service.createToken('bob', ORDINARY) };
    const { page } = await browser.openSigned(signed);
    await page.goto(await linkFor('stayed'));
    await page.getByRole('button', { name: 'Stay signed in as bob' }).click();
    await isEnded('stayed');
    await page.goto(await linkFor('ignored'));
    await says(page, 'You are signed in as bob in this tab.');
    await page.reload();
    await isEnded('ignored');
    await says(page, 'bob');
    expect(await sessionsOf('bob')).toBe(1);
  });
});

async function signOut(page: Page, userId: string): Promise<void> {
  await page.getByText(userId, { exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
}

const everythingKeptIn = (page: Page): Promise<string> =>
  page.evaluate<string>('JSON.stringify({ ...sessionStorage, ...localStorage })');

/** The session that a tab keeps. */
async function keptIn(page: Page): Promise<ConsoleSession> {
  const kept = Object.values(await page.evaluate<Record<string, string>>('({ ...sessionStorage })'));
  return JSON.parse(kept.find((value) => value.includes('wns_')) ?? '{}') as ConsoleSession;
}

/** As "Duplicate tab" does: the other tab begins with what this one keeps. */
async function copyOf(page: Page, context: BrowserContext): Promise<Page> {
  const copy = context.waitForEvent('page');
  await page.evaluate('void open(location.href)');
  return copy;
}

/** What no console posts, or no longer: any page of the origin can. */
function malformed(session: ConsoleSession): unknown[] {
  const sessions = [
    ...[null, 5, 'x', [], {}, { token: session.token }],
    ...[{ token: 'x' }, { token: `${session.token}\n` }, { token: [session.token] }, { userId: 5 }, { userId: '' }].map(
      (wrong) => ({ ...session, ...wrong }),
    ),
    ...[
      { scopes: 'all' },
      { scopes: [5] },
      { expiresAt: 5 },
      { expiresAt: 'soon' },
      { tokenId: {} },
      { isByLink: 1 },
    ].map((wrong) => ({ ...session, ...wrong })),
  ];
  return [
    ...[null, 5, 'who?', 'who', [], {}, session, { kind: 'leave' }, { kind: 'leave', tokenId: 5 }, { kind: 'else' }],
    ...sessions.map((each) => ({ kind: 'here', session: each })),
  ];
}
