import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { dataOf, pageOf } from '../support/api';
import { useFollowerServer, useFollowerTrust } from '../support/follower-server';
import { useService } from '../support/service';
import { describeInBrowser, says, screen } from './stage/browser';
import { hostileTexts } from './stage/hostile-texts';
import { byKeyboard, byMouse } from './stage/ways';

const SCOPES = ['accounts:manage', 'deliveries:read', 'webhooks:read'];
const MOST_CLICKS = 4;

describeInBrowser('Connected accounts', (browser) => {
  const server = useFollowerServer();
  const service = useService(useFollowerTrust());

  /** A user that no other test has. */
  async function newUser(name: string) {
    const token = await service.createToken(name, SCOPES);
    return { api: service.api.withToken(token), signed: { url: service.url, token } };
  }

  it.each(['clicks', 'the keyboard'])('are connected by %s alone, and read at once', async (how) => {
    server.serve([
      { id: '1', name: 'bob@far.example' },
      { id: '2', name: 'eve@far.example' },
    ]);
    server.interrupt();
    const { api, signed } = await newUser(how === 'clicks' ? 'ann' : 'kim');
    const { page } = await browser.openSigned(signed);
    const way = how === 'clicks' ? byMouse() : byKeyboard(page);
    await way.press(page.getByRole('link', { name: 'Connected accounts' }));
    await says(page, 'No account connected yet');
    await way.press(page.getByRole('button', { name: 'Connect account' }));
    await page.getByLabel('Handle').fill(`ada@${server.host}`);
    await way.press(page.getByRole('button', { name: 'Connect', exact: true }));
    await screen(page, `ada@${server.host}`);
    await says(page, 'Up to date');
    expect(way.count).toBeLessThanOrEqual(MOST_CLICKS);
    expect((await pageOf(api.listAccounts())).rows).toMatchObject([{ provider: 'mastodon', intervalSeconds: 300 }]);
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link').click();
    await page.getByRole('cell', { name: /Read .+: 2 followers/ }).waitFor();
    await page.getByRole('cell', { name: 'In about 5 min' }).waitFor();
  });

  it('say why a reading failed', async () => {
    server.interrupt(() => ({ status: 502 }));
    const { api, signed } = await newUser('fay');
    await dataOf(api.createAccount({ provider: 'mastodon', handle: `ada@${server.host}` }), 201);
    const { page } = await browser.openSigned(signed, 'accounts');
    await says(page, 'Not updated');
    await says(page, /returned status 502/);
    await says(page, 'Retries after 5 min or more');
  });

  it('show an error of the handle at the handle', async () => {
    const { signed } = await newUser('eli');
    const { page } = await browser.openSigned(signed, 'accounts');
    await page.getByRole('button', { name: 'Connect account' }).click();
    const handle = page.getByRole('textbox', { name: 'Handle' });
    const errorOf = async () =>
      page.locator(`#${(await handle.getAttribute('aria-describedby'))?.split(' ').at(-1)}`).textContent();
    for (const [typed, error] of [
      ['', 'Enter a handle.'],
      ['ada', 'handle must be a Mastodon handle such as ada@mastodon.social'],
    ] as const) {
      await handle.fill(typed);
      await page.getByRole('button', { name: 'Connect', exact: true }).click();
      await page.getByText(error).waitFor();
      await page.locator('input[aria-invalid="true"]:focus').waitFor();
      expect(await errorOf()).toBe(error);
    }
    await page.getByLabel('Bluesky').check();
    await says(page, 'Such as ada.bsky.social.');
  });

  it('take a pushed list, and show the events that it published', async () => {
    const { api, signed } = await newUser('pia');
    const { page } = await browser.openSigned(signed, 'accounts');
    await page.getByRole('button', { name: 'Connect account' }).click();
    await page.getByLabel('Pushed list').check();
    await page.getByLabel('Handle').fill('Shop');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await says(page, 'No list pushed yet');
    const list = page.getByRole('textbox', { name: 'Followers' });
    await page.getByRole('button', { name: 'Push 0 followers' }).click();
    await says(page, /Enter the list first/);
    await list.fill('1, bob\n2, eve, Eve');
    await page.getByRole('button', { name: 'Push 2 followers' }).click();
    await says(page, 'Stored 2 followers: 0 gained, 0 lost.');
    await list.fill('2\n2');
    await page.getByRole('button', { name: 'Push 2 followers' }).click();
    await says(page, 'followers[1].id is repeated');
    await list.fill('[{"id": "2", "username": "eve"}, "3"]');
    await page.getByRole('button', { name: 'Push 2 followers' }).click();
    await says(page, 'Stored 2 followers: 1 gained, 1 lost.');
    await page.getByRole('row', { name: 'follower.lost bob' }).waitFor();
    await page.getByRole('row', { name: 'follower.gained 3' }).waitFor();
    await page.getByRole('link', { name: 'All follower.gained events' }).click();
    await page.waitForURL('**/console/events?event=follower.gained');
    await screen(page, 'Events');
    expect((await pageOf(api.listAccounts())).rows).toMatchObject([{ handle: 'Shop', followersCount: 2 }]);
  });

  it('are disconnected after a dialog that says what follows', async () => {
    const { api, signed } = await newUser('dan');
    const { id } = await dataOf(api.createAccount({ provider: 'push', handle: 'Shop' }), 201);
    await dataOf(api.putFollowers(id, { followers: [{ id: '1', username: 'bob' }] }));
    const { page } = await browser.openSigned(signed, `accounts/${id}`);
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await says(page, 'The service stops following this account and deletes its list of 1 follower.');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await says(page, 'No account connected yet');
    expect((await api.readAccount(id)).status).toBe(404);
    await page.goto(`${service.url}/console/accounts/${id}`);
    await says(page, 'It may be disconnected, or belong to another user.');
  });

  it('name the scope that a token lacks', async () => {
    const token = await service.createToken('rea', ['webhooks:read', 'deliveries:read']);
    const { page } = await browser.openSigned({ url: service.url, token }, 'accounts');
    await says(page, 'Your token lacks the scope accounts:manage.');
    expect(await page.getByRole('button', { name: 'Connect account' }).isDisabled()).toBe(true);
  });

  describe('with hostile texts', () => {
    let canary: Server;
    const asked: string[] = [];
    beforeAll(async () => {
      canary = createServer((request, response) => {
        asked.push(String(request.url));
        response.end();
      }).listen(0, '127.0.0.1');
      await once(canary, 'listening');
    });
    afterAll(() => {
      canary.close();
    });

    it('show them as texts', async () => {
      const texts = hostileTexts(`http://127.0.0.1:${(canary.address() as AddressInfo).port}/taken`);
      const { api, signed } = await newUser('hal');
      const followers = texts.map((text, i) => ({ id: String(i), username: text.slice(0, 512) }));
      const ids: string[] = [];
      for (const text of [...texts.slice(0, 18), ...texts.filter((each) => each.includes('\u202e'))]) {
        const { id } = await dataOf(api.createAccount({ provider: 'push', handle: text.slice(0, 200).trim() }), 201);
        await service.database.query('update webhook_service.accounts set last_error = $1 where id = $2', [text, id]);
        ids.push(id);
      }
      const [first] = ids;
      await dataOf(api.putFollowers(first!, { followers: [] }));
      await dataOf(api.putFollowers(first!, { followers }));
      const { page } = await browser.openSigned(signed, 'accounts');
      await says(page, '⟨U+202E⟩gnp.exe');
      for (const id of ids) {
        await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console/accounts/${id}`)})`);
        await page.getByRole('textbox', { name: 'Followers' }).waitFor();
        if (id === first)
          await page
            .getByRole('row', { name: /^follower.gained/ })
            .first()
            .waitFor();
        expect(await page.locator('main :is(script, img, iframe, object, embed, video, style, base)').count()).toBe(0);
      }
      expect(await page.evaluate('globalThis.taken')).toBeUndefined();
      expect(asked).toEqual([]);
    });
  });
});
