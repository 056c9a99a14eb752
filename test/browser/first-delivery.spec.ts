import { describeInBrowser, says, screen, signIn } from './stage/browser';
import { type LocalService, startLocalService } from './stage/local-service';
import { byKeyboard, byMouse } from './stage/ways';

const MOST_MS = 60_000;

describeInBrowser('Who starts the service for the first time', (browser) => {
  let service: LocalService;
  beforeAll(async () => {
    service = await startLocalService();
  });
  afterAll(() => service.stop());

  it.each(['clicks', 'the keyboard'])('sees the first delivery by %s alone, within a minute', async (how) => {
    const [user, link] = how === 'clicks' ? ['admin', service.link] : ['kim', await service.linkFor('kim')];
    const { page } = await browser.open(link);
    const way = how === 'clicks' ? byMouse() : byKeyboard(page);
    const openedAt = performance.now();
    await way.press(page.getByRole('button', { name: `Continue as ${user}` }));
    await way.press(page.getByRole('button', { name: 'Try it now' }));
    await screen(page, 'Event');
    await page.getByText('Delivered', { exact: true }).waitFor();
    // eslint-disable-next-line no-restricted-syntax -- the promise of the README
    expect(performance.now() - openedAt).toBeLessThan(MOST_MS);
    await way.press(page.getByRole('link', { name: 'View', exact: true }));
    await screen(page, 'Delivery');
    await page.getByText('x-service-signature', { exact: true }).first().waitFor();
    await way.press(page.getByRole('navigation').getByRole('link', { name: 'Test receiver' }));
    await says(page, 'The signature is valid.');
    expect(way.count).toBe(4);
  });

  it('is signed in by the link, whose code is nowhere any more', async () => {
    const link = await service.linkFor('max');
    const { page } = await browser.openLink(link, 'max');
    await screen(page, 'Overview');
    expect(page.url()).toBe(`${service.url}/console/`);
    expect(await page.evaluate('JSON.stringify({ ...localStorage }) + history.length')).toBe('{}2');
    await page.reload();
    await screen(page, 'Overview');
    // It was good once; who is signed in stays so.
    await page.goto(link);
    await page.reload();
    await screen(page, 'Overview');
  });

  it('confirms before a link signs in another user', async () => {
    const { page } = await browser.open(`${service.url}/console/`);
    await signIn(page, await service.tokenFor('bob'));
    await page.goto(await service.linkFor('ann'));
    await says(page, 'You are signed in as bob in this tab.');
    await page.getByRole('button', { name: 'Stay signed in as bob' }).click();
    await page.getByText('bob', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('bob', { exact: true }).waitFor();
  });

  it('sees a webhook that is gone, with the receiver’s switch', async () => {
    const { page } = await browser.openLink(await service.linkFor('lee'), 'lee');
    await page.getByRole('button', { name: 'Try it now' }).click();
    await page.getByText('Delivered', { exact: true }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Test receiver' }).click();
    await page.getByLabel('410').check();
    await page.getByRole('link', { name: 'Publish' }).click();
    await page.getByLabel('Event type').selectOption('follower.gained');
    await page.getByRole('button', { name: 'Publish' }).click();
    await says(page, /answered 410/);
    await page.getByRole('link', { name: 'Overview' }).click();
    await says(page, /was disabled at/);
  });
});
