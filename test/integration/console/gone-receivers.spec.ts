import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Config } from '../../../src/infrastructure/config/config';
import { GoneReceiversService, TryReceiversService } from '../../../src/console/test-receivers/test-receivers.service';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { startApplication, stopApplication } from '../stage/application';
import { HOUR_MS } from '../../../src/infrastructure/config/durations';

const UNKNOWN = 'f'.repeat(32);

describe('A webhook to a test receiver', () => {
  let database: TestDatabase;
  let app: NestFastifyApplication;
  let receivers: TryReceiversService;
  beforeEach(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, []);
    // An application on the embedded PostgreSQL would be local.
    receivers = new TryReceiversService({ ...app.get(Config), isLocal: true }, app.get(GoneReceiversService));
  });
  afterEach(async () => {
    jest.useRealTimers();
    receivers.onModuleDestroy();
    await stopApplication(app);
    await database.drop();
  });

  async function insert(url: string): Promise<string> {
    const id = randomUUID();
    await database.query(
      `insert into webhook_service.webhooks (id, user_id, url, events, secret) values ($1, 'ada', $2, '{job.started}', '')`,
      [id, url],
    );
    return id;
  }
  const stateOf = async (id: string) => {
    const [row] = await database.query<{ active: boolean; reason: string | null; disabled_at: Date | null }>(
      'select active, disabled_reason as reason, disabled_at from webhook_service.webhooks where id = $1',
      [id],
    );
    return row!;
  };

  it('is disabled when that expires', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance', 'hrtime', 'queueMicrotask'] });
    const first = receivers.create('ada').receiver.id;
    jest.advanceTimersByTime(HOUR_MS / 2);
    const second = receivers.create('bob').receiver.id;
    const at = (id: string) => insert(`http://127.0.0.1:3000/try/${id}`);
    const [ofFirst, ofSecond] = [await at(first), await at(second)];
    jest.advanceTimersByTime(HOUR_MS / 2);
    jest.useRealTimers();
    await waitFor(async () => !(await stateOf(ofFirst)).active, { what: 'the webhook to be disabled' });
    expect(await stateOf(ofFirst)).toMatchObject({ reason: 'receiver_gone', disabled_at: expect.any(Date) });
    expect(await stateOf(ofSecond)).toMatchObject({ active: true, reason: null });
    expect(receivers.find(first)).toBeUndefined();
    expect(receivers.find(second)).toBeDefined();
  });

  it('is disabled at a start, whatever its port', async () => {
    const gone = [];
    for (const origin of ['http://127.0.0.1:3000', 'http://127.0.0.2', 'http://[::1]:3000'])
      gone.push(await insert(`${origin}/try/${UNKNOWN}`));
    const others = [];
    for (const url of [
      `https://127.0.0.1/try/${UNKNOWN}`,
      `http://example.com/try/${UNKNOWN}`,
      'http://127.0.0.1/try/x',
    ])
      others.push(await insert(url));
    await receivers.onApplicationBootstrap();
    for (const id of gone) expect(await stateOf(id)).toMatchObject({ active: false, reason: 'receiver_gone' });
    for (const id of others) expect(await stateOf(id)).toMatchObject({ active: true, reason: null });
    const pauses = await database.query('select from webhook_service.webhook_pauses');
    expect(pauses).toHaveLength(gone.length);
  });
});
