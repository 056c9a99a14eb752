import { dataOf } from '../../support/api';
import { type Hook, useReceiver } from '../../support/receiver';
import { describeOnStores } from '../../support/stores';
import { EXAMPLES } from '../stage/examples';
import { useFleet } from '../stage/fleet';
import { publish, subscribe } from '../stage/steps';

const WEBHOOKS = 100;
const BATCHES = 10;
const EVENT = { event: 'job.started', data: EXAMPLES['job.started'], userId: 'busy' };
/** Of 100,000 rows. One user may have 500 deliveries without a row, and as many while the other event is on its way. */
const MOST_BEFORE = 5000;

// The rows of a busy user and of others are counted, and no time is measured: a busy machine writes fewer of both.

describeOnStores('While a user publishes 1,000 events to 100 webhooks', (store) => {
  const fleet = useFleet({ apis: 1, workers: 1 }, () => ({
    ...store.settings(),
    ...{ PUBLISH_LIMIT_PER_MINUTE: '0', RATE_LIMIT_PER_MINUTE: '0' },
  }));
  const receiver = useReceiver();

  const rowsOfBusy = async (): Promise<number> => {
    const count = `select count(*)::int as count from webhook_service.deliveries where user_id = 'busy'`;
    return (await fleet().database.query<{ count: number }>(count))[0]?.count ?? 0;
  };

  it('an event of another user is delivered before most of the rows are there', async () => {
    const api = fleet().through(fleet().apis[0]!);
    for (let i = 0; i < WEBHOOKS; i += 10) {
      await Promise.all(
        Array.from({ length: 10 }, () => dataOf(api.createWebhook({ kind: 'pull', events: ['job.started'] }), 201)),
      );
    }
    await fleet().database.query(`update webhook_service.webhooks set user_id = 'busy'`);
    const hook: Hook = receiver.hook();
    await subscribe(api, hook, ['job.started']);
    const events = Array<typeof EVENT>(100).fill(EVENT);
    await Promise.all(Array.from({ length: BATCHES }, () => dataOf(api.publishBatch({ events }), 202)));
    const before: number[] = [];
    for (let event = 1; event <= 5; event++) {
      const rows = await rowsOfBusy();
      await publish(api, 'job.started', { userId: 'admin' });
      await hook.received(event);
      before.push((await rowsOfBusy()) - rows);
    }
    expect(Math.max(...before)).toBeLessThan(MOST_BEFORE);
  });
});
