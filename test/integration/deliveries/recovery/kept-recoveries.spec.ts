import { RecoveriesService } from '../../../../src/deliveries/recovery/recoveries.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { useApplication } from '../../stage/application';

const KEPT = 1000;
/** A new recovery deletes as many at most. */
const PAGE = 100;

describe('Recoveries of a webhook', () => {
  const { app, database } = useApplication();

  it('are kept up to 1,000, so that the webhook can be deleted', async () => {
    const { webhook } = await app.get(WebhooksService).create('ada', { kind: 'pull', events: ['job.started'] });
    await database.query(
      `insert into webhook_service.recoveries (id, webhook_id, user_id, status, count, first_id, until_id, cursor, completed_at)
       select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1::uuid, 'ada', 'done', 0, $1, $1, $1, now()
       from generate_series(1, $2::int) as n`,
      [webhook.id, KEPT + 2 * PAGE + 1],
    );
    const start = () => app.get(RecoveriesService).start('ada', webhook.id, { since: new Date(Date.now() - 1000) });
    const stored = async () => {
      const sql =
        'select count(*)::int as count, right(min(id::text), 4)::int as lowest from webhook_service.recoveries';
      return (await database.query(sql))[0];
    };
    const counts: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      await start();
      counts.push((await stored())?.count);
    }
    // Each inserts one, and deletes a page before that.
    expect(counts).toEqual([KEPT + PAGE + 2, KEPT + 3, KEPT + 1]);
    expect(await stored()).toMatchObject({ lowest: 2 * PAGE + 4 });
    const { items } = await app.get(RecoveriesService).list('ada', webhook.id, { limit: 3 });
    expect(items.map(({ status }) => status)).toEqual(['done', 'done', 'done']);
  });
});
