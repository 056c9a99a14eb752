import { dataOf } from '../support/api';
import { useReceiver } from '../support/receiver';
import { useService } from '../support/service';
import { waitFor } from '../support/wait-for';
import { publish, settledDeliveries, subscribe } from '../e2e/stage/steps';
import { describeInBrowser, says, screen } from './stage/browser';
import { byKeyboard, byMouse } from './stage/ways';

const MOST_CLICKS = 10;

describeInBrowser('Whose receiver was down', (browser) => {
  const service = useService({ MAX_RETRIES: '0', DISABLE_AFTER_FAILURES: '2', DISABLE_AFTER_HOURS: '0' });
  const receiver = useReceiver();

  it('sends again what matches a filter of the log', async () => {
    const token = await service.createToken('carl', [
      ...['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'],
    ]);
    const api = service.api.withToken(token);
    const hook = receiver.hook({ status: 500 }, { status: 500 }, {});
    const webhook = await subscribe(api, hook, ['job.*'], { active: true });
    const wanted = await publish(api, 'job.started');
    await settledDeliveries(api, webhook, wanted);
    await settledDeliveries(api, webhook, await publish(api, 'job.completed'));
    await dataOf(api.updateWebhook(webhook.id, { active: true }));

    const { page } = await browser.openSigned({ url: service.url, token }, `deliveries?webhookId=${webhook.id}`);
    const filter = page.getByRole('combobox', { name: 'Filter or look up an id' });
    await filter.fill('job.started');
    await filter.press('Enter');
    // A recovery cannot be narrowed by the answer.
    await filter.fill('5xx');
    await filter.press('Enter');
    await says(page, 'To recover all that match, remove: responseStatus.');
    await page.getByRole('button', { name: 'Remove Answer' }).click();
    await page.getByRole('link', { name: 'Recover all that match' }).click();
    await page.getByRole('button', { name: 'Count missed events' }).click();
    await says(page, '1 event did not arrive.');
    await page.getByRole('button', { name: 'Resend 1' }).click();
    await says(page, '1 event was delivered.');
    const [, , again] = await hook.received(3);
    expect(again!.headers['webhook-id']).toBe(wanted.id);
  });

  it.each(['clicks', 'the keyboard'])('repairs it by %s alone, and nothing is missing', async (how) => {
    const user = how === 'clicks' ? 'ann' : 'bob';
    const token = await service.createToken(user, [
      ...['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'],
    ]);
    const api = service.api.withToken(token);
    const hook = receiver.hook({ status: 500, body: 'out of order' });
    const webhook = await subscribe(api, hook, ['job.started']);
    const events = [await publish(api, 'job.started'), await publish(api, 'job.started')];
    const isDisabled = async () => (await dataOf(api.readWebhook(webhook.id))).disabledReason === 'failing';
    await waitFor(isDisabled, { what: 'the webhook to be disabled' });
    const before = hook.calls.length;
    hook.answer({});

    const { page } = await browser.openSigned({ url: service.url, token });
    const way = how === 'clicks' ? byMouse() : byKeyboard(page);
    await says(page, /was disabled at/);
    await way.press(page.getByRole('link', { name: 'Review' }));
    await screen(page, 'Repair');
    await says(page, 'It failed too often.');
    await page.getByRole('link', { name: 'http_status' }).waitFor();
    await way.press(page.getByRole('button', { name: 'Test with job.started' }));
    await page.getByRole('link', { name: /^200 in/ }).waitFor();
    await way.press(page.getByRole('button', { name: 'Activate' }));
    await says(page, 'It is active.');
    await way.press(page.getByRole('button', { name: 'Count missed events' }));
    await says(page, '2 events did not arrive.');
    await way.press(page.getByRole('button', { name: 'Resend 2' }));
    await says(page, 'All 2 were delivered.');
    await page.reload();
    await says(page, 'All 2 were delivered.');
    expect(await page.getByText(/still failing/).count()).toBe(0);
    expect(way.count).toBeLessThanOrEqual(MOST_CLICKS);

    const calls = await hook.received(before + 3);
    const received = calls.slice(before + 1).map(({ headers }) => headers['webhook-id']);
    expect(received.sort()).toEqual(events.map(({ id }) => id).sort());
  });
});
