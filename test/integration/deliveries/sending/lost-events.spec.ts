import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ClaimsRepository } from '../../../../src/deliveries/sending/claims.repository';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { startApplication, stopApplication } from '../../stage/application';
import { insertDueDelivery } from '../../stage/due-delivery';

const URL = 'http://127.0.0.1:9/';

describe('A delivery whose event a failover has lost', () => {
  let database: TestDatabase;
  let app: NestFastifyApplication;
  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, []);
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  it('is canceled when it is claimed, and others are attempted', async () => {
    const userId = `user-${randomUUID()}`;
    const { webhook } = await app.get(WebhooksService).create(userId, { url: URL, events: ['job.started'] });
    const insert = () => insertDueDelivery(database, { userId, webhookId: webhook.id }, URL, { leased: '1 hour' });
    const [lost, other] = [await insert(), await insert()];
    await database.query('delete from webhook_service.events where id = $1', [lost]);
    const claims = app.get(ClaimsRepository);
    const claimed = await Promise.all([lost, other].map((id) => claims.claim(id)));
    expect(claimed.map((each) => each?.id)).toEqual([undefined, other]);
    const rows = await database.query(
      'select id, status, error_code as error, completed_at is not null as ended from webhook_service.deliveries order by id',
    );
    expect(rows).toEqual([
      { id: lost, status: 'canceled', error: 'expired', ended: true },
      { id: other, status: 'pending', error: null, ended: false },
    ]);
  });
});
