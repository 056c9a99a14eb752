import { Pool } from 'pg';
import { database, type Transport } from 'webhook-notification/nest';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';

describe('The tables of a service that does not know subjects', () => {
  let tables: TestDatabase;
  let pool: Pool;
  let transport: Transport;
  beforeAll(async () => {
    tables = await cloneDatabase();
    await tables.query(`
      alter table webhook_service.events drop column subject;
      create table webhook_service.events_of_all_days partition of webhook_service.events default`);
    pool = new Pool({ connectionString: tables.url, max: 1 });
    transport = database({ connection: pool });
  });
  afterAll(async () => {
    await pool?.end();
    await tables?.drop();
  });

  const EVENT = { name: 'job.started', userId: 'alice', data: '{"a":1}' };

  it('take events without a subject', async () => {
    expect(await transport.write([EVENT, { ...EVENT, idempotencyKey: 'one' }])).toHaveLength(2);
    expect(await transport.write([{ ...EVENT, idempotencyKey: 'one' }])).toMatchObject([{ duplicate: true }]);
  });

  it('refuse an event with one, and say why', async () => {
    const written = transport.write([EVENT, { ...EVENT, subject: 'invoice/1' }]);
    await expect(written).rejects.toThrow('does not know subjects: upgrade it to 1.0');
    expect(await tables.query('select count(*)::int from webhook_service.events')).toEqual([{ count: 2 }]);
  });
});
