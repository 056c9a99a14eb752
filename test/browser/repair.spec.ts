import axe from 'axe-core';
import { dataOf } from '../support/api';
import { type Answer, useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { waitFor } from '../support/wait-for';
import { publish, settledDeliveries, subscribe } from '../e2e/stage/steps';
import { describeInBrowser, says, screen } from './stage/browser';
import { byMouse } from './stage/ways';

const ORDINARY = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];
/** As in screens.spec.ts. */
const SCHEMES = [
  ['light', ''],
  ['dark', "{ runOnly: ['cat.color'] }"],
] as const;
const HOSTILE = `<img src=x onerror="globalThis.taken=1">\u202egnp`;

describeInBrowser('Repairing a webhook that is still active', (browser) => {
  const service = useService({ MAX_RETRIES: '0' });
  const receiver = useReceiver();

  /** Creates a user whose webhook has missed two events. */
  async function failing(user: string, ...answers: Answer[]) {
    const token = await service.createToken(user, ORDINARY);
    const api = service.api.withToken(token);
    const hook = receiver.hook({ status: 500, body: HOSTILE }, { status: 500, body: HOSTILE }, ...answers);
    const webhook = await subscribe(api, hook, ['job.started'], { description: `${user} ${HOSTILE}` });
    for (let i = 0; i < 2; i++) await settledDeliveries(api, webhook, await publish(api, 'job.started'));
    const isFailing = async () =>
      (await dataOf(api.listWebhooks({ include: 'stats' })))[0]?.stats?.health === 'failing';
    await waitFor(isFailing, { what: 'the webhook to be failing' });
    return { api, hook, webhook, token };
  }

  it('takes four clicks from the overview, and promises no time before it is measured', async () => {
    const { hook, token } = await failing('ann', {});
    const { page } = await browser.openSigned({ url: service.url, token });
    const way = byMouse();
    await way.press(page.getByRole('link', { name: 'Repair' }));
    await screen(page, /^Repair ann/);
    await says(page, '2 events in a row gave up.');
    expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
      'What happened',
      'Why',
      'Test',
      'Recover',
    ]);
    await says(page, /Your server answered 500/);
    await way.press(page.getByRole('button', { name: 'Test with job.started' }));
    await page.getByRole('link', { name: /^200 in/ }).waitFor();
    await way.press(page.getByRole('button', { name: 'Count missed events' }));
    await says(page, '2 events did not arrive.');
    expect(await page.getByText(/^About/).count()).toBe(0);
    await way.press(page.getByRole('button', { name: 'Resend 2' }));
    await says(page, 'All 2 were delivered.');
    expect(way.count).toBe(4);
    await hook.received(5);
    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
  });

  it('says how many are still failing, shows them, and leads to the log', async () => {
    const { token } = await failing('bob', {}, { status: 503 });
    const { page } = await browser.openSigned({ url: service.url, token });
    await page.getByRole('link', { name: 'Repair' }).click();
    await page.getByRole('button', { name: 'Count missed events' }).click();
    await page.getByRole('button', { name: 'Resend 2' }).click();
    await says(page, '1 delivered, 1 still failing.');
    await page.getByRole('button', { name: 'Show them' }).click();
    await page
      .getByRole('row', { name: /answered 503/ })
      .getByText('redelivery')
      .first()
      .waitFor();
    await page.evaluate(axe.source);
    for (const [colorScheme, rules] of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${rules})`);
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    }
    await page.reload();
    await says(page, '1 delivered, 1 still failing.');
    await page.getByRole('button', { name: 'Show them' }).click();
    await page.getByRole('link', { name: 'Show all that gave up in the log' }).click();
    await screen(page, 'Deliveries');
    await page.locator('tbody tr').first().waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
  });

  it('shows read-only tokens what happened and why, and names the missing scope', async () => {
    const { webhook } = await failing('eve');
    const token = await service.createToken('eve', ['webhooks:read', 'deliveries:read']);
    const { page } = await browser.openSigned({ url: service.url, token }, `webhooks/${webhook.id}/repair`);
    await says(page, '2 events in a row gave up.');
    await says(page, 'Your token lacks the scope webhooks:write.');
    for (const name of ['Test with job.started', 'Count missed events']) {
      expect(await page.getByRole('button', { name }).isDisabled()).toBe(true);
    }
  });
});
