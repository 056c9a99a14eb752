import { randomUUID } from 'node:crypto';
import { type DueWebhook, dueWebhookOf } from '../../../../src/deliveries/rows/due-webhook';
import { FanOutRepository } from '../../../../src/deliveries/fan-out/fan-out.repository';
import { ClaimsRepository } from '../../../../src/deliveries/rows/claims.repository';
import { ClockService } from '../../../../src/infrastructure/database/clock.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { useApplication } from '../../stage/application';
import { insertDueDelivery } from '../../stage/due-delivery';

const URL = 'https://receiver.example/';

describe('A claim', () => {
  const { app, database } = useApplication();

  it('returns the webhook with all that its owner set, as fan-out and a wait for a slot do', async () => {
    const userId = `user-${randomUUID()}`;
    const { webhook } = await app.get(WebhooksService).create(userId, {
      ...{ url: URL, events: ['job.started'], format: 'slack', timeoutMs: 2000, retryDelaysMs: [1000] },
      headers: { 'x-key': 'a value' },
    });
    const again = await app.get(ClaimsRepository).webhook(webhook.id);
    expect(again).toMatchObject({ url: URL, active: true, format: 'slack', timeoutMs: 2000, retryDelaysMs: [1000] });
    expect(Object.keys(again!.headers!)).toEqual(['x-key']);

    const key = { userId, webhookId: webhook.id };
    const claimed = await app.get(ClaimsRepository).claim(await insertDueDelivery(database, key, URL));
    expect(claimed!.webhook).toEqual(again);

    const { id } = app.get(ClockService).newId();
    const insert = `insert into webhook_service.events (id, name, user_id, body) values ($1, 'job.started', $2, '{}')`;
    await database.query(insert, [id, userId]);
    const subscribers = [];
    for (const page of (await app.get(FanOutRepository).claim([id])).values()) subscribers.push(...page.subscribers);
    expect(subscribers.map((row) => dueWebhookOf(row as DueWebhook & typeof row))).toEqual([again]);
  });

  it('cancels a delivery whose event a failover has lost, and attempts others', async () => {
    const userId = `user-${randomUUID()}`;
    const { webhook } = await app.get(WebhooksService).create(userId, { url: URL, events: ['job.started'] });
    const insert = () => insertDueDelivery(database, { userId, webhookId: webhook.id }, URL, { leased: '1 hour' });
    const [lost, other] = [await insert(), await insert()];
    await database.query('delete from webhook_service.events where id = $1', [lost]);
    const claims = app.get(ClaimsRepository);
    const claimed = await Promise.all([lost, other].map((id) => claims.claim(id)));
    expect(claimed.map((each) => each?.id)).toEqual([undefined, other]);
    const rows = await database.query(
      `select id, status, error_code as error, completed_at is not null as ended
       from webhook_service.deliveries where user_id = $1 order by id`,
      [userId],
    );
    expect(rows).toEqual([
      { id: lost, status: 'canceled', error: 'expired', ended: true },
      { id: other, status: 'pending', error: null, ended: false },
    ]);
  });
});
