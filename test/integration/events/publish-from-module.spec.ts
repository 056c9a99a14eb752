import { Injectable, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { EventsModule } from '../../../src/events/events.module';
import { EventsService, type PublishOptions } from '../../../src/events/events.service';
import type { EventName, EventPayloads } from 'webhook-notification';
import { MetricsService } from '../../../src/infrastructure/metrics/metrics.service';
import { WebhooksService } from '../../../src/webhooks/webhooks.service';
import { EXAMPLES } from '../../e2e/stage/examples';
import { startApplication, stopApplication } from '../stage/application';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { type Hook, useReceiver } from '../../support/receiver';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';

/** A third-party module that only injects `EventsService`. */
@Injectable()
class AutomationService {
  constructor(private readonly events: EventsService) {}

  report<Name extends EventName>(name: Name, data: EventPayloads[Name], options: PublishOptions) {
    return this.events.publish(name, data, options);
  }
}

@Module({ imports: [EventsModule], providers: [AutomationService] })
class AutomationModule {}

describeOnStores('Another Nest module that injects EventsService', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let app: NestFastifyApplication;
  let automation: AutomationService;

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, [AutomationModule], store.settings());
    automation = app.get(AutomationService);
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  async function subscribe(userId: string, events: string[]): Promise<Hook> {
    const hook = receiver.hook();
    await app.get(WebhooksService).create(userId, { url: hook.url, events });
    return hook;
  }

  const namesAt = (hook: Hook) => hook.calls.map(({ headers }) => headers['x-service-event']);

  it.each(Object.keys(EXAMPLES) as (keyof typeof EXAMPLES)[])(
    'reaches the webhook subscribed to %s and no other',
    async (name) => {
      const [subscribed, others] = [
        await subscribe('alice', [name]),
        await subscribe(
          'alice',
          Object.keys(EXAMPLES).filter((other) => other !== name),
        ),
      ];
      const foreign = await subscribe('bob', ['*']);
      const event = await automation.report(name, EXAMPLES[name] as never, { userId: 'alice' });
      const [call] = await subscribed.received(1);
      expect(JSON.parse(String(call?.body))).toEqual({
        id: event.id,
        event: name,
        createdAt: event.createdAt.toISOString(),
        data: EXAMPLES[name],
      });
      await fannedOut(event.id);
      expect([namesAt(subscribed), namesAt(others), namesAt(foreign)]).toEqual([[name], [], []]);
    },
  );

  it('reaches all users with null for a user, and nobody without a userId', async () => {
    const [alice, bob] = [await subscribe('alice', ['job.started']), await subscribe('bob', ['job.started'])];
    const data = EXAMPLES['job.started'] as never;
    for (const options of [undefined, null, {}, { userId: undefined }, { idempotencyKey: 'forgotten' }]) {
      const forgotten = automation.report('job.started', data, options as never);
      await expect(forgotten).rejects.toThrow(
        new TypeError('userId is missing: pass the id of a user, or null to publish for all users.'),
      );
    }
    const { id } = await automation.report('job.started', data, { userId: null });
    await Promise.all([alice.received(1), bob.received(1)]);
    await fannedOut(id);
    for (const { calls } of [alice, bob]) expect(calls.map(({ headers }) => headers['webhook-id'])).toEqual([id]);
  });

  it('publishes once for one idempotency key', async () => {
    const hook = await subscribe('carol', ['*']);
    const publish = () =>
      automation.report('job.started', EXAMPLES['job.started'] as never, { userId: 'carol', idempotencyKey: 'run-1' });
    const events = await Promise.all(Array.from({ length: 50 }, publish));
    expect(new Set(events.map(({ id }) => id)).size).toBe(1);
    expect(events.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    await hook.received(1);
    await fannedOut(events[0]!.id);
    expect(hook.calls).toHaveLength(1);
  });

  it('commits the event with its own transaction, and delivers it at once', async () => {
    const hook = await subscribe('dave', ['*']);
    const event = await app.get(DataSource).transaction(async (manager) => {
      const published = await automation.report('job.started', EXAMPLES['job.started'] as never, {
        userId: 'dave',
        manager,
      });
      await manager.transaction(async (nested) => void (await nested.query('select 1')));
      expect(await rowsOf(published.id)).toHaveLength(0);
      return published;
    });
    await hook.received(1);
    expect(await rowsOf(event.id)).toHaveLength(1);
  });

  it('rolls the event back with its own transaction, key included', async () => {
    const options = { userId: 'erin', idempotencyKey: 'rolled-back' };
    const publish = (manager?: PublishOptions['manager']) =>
      automation.report('job.started', EXAMPLES['job.started'] as never, { ...options, manager });
    const rolledBack = app.get(DataSource).transaction(async (manager) => {
      const { id } = await publish(manager);
      throw new Error(`rolled back ${id}`);
    });
    const id = await rolledBack.then(
      () => '',
      (error: Error) => error.message.split(' ').at(-1) ?? '',
    );
    expect(await rowsOf(id)).toHaveLength(0);
    expect((await publish()).duplicate).toBe(false);
  });

  it('keeps the settings of its own transaction', async () => {
    const settings = `select name, setting from pg_settings order by name`;
    await app.get(DataSource).transaction(async (manager) => {
      await manager.query(`set local lock_timeout = '1min'; set local statement_timeout = '1h'`);
      const before: unknown = await manager.query(settings);
      const options = { userId: 'grace', idempotencyKey: 'settings', manager };
      await automation.report('job.started', EXAMPLES['job.started'] as never, options);
      expect(await manager.query(settings)).toEqual(before);
    });
  });

  it('has its events counted when its transaction commits, and not when it rolls back', async () => {
    const accepted = async () =>
      Number(
        /^webhooks_events_accepted_total\{source="in_process"\} (\d+)$/m.exec(
          await app.get(MetricsService).text(),
        )?.[1],
      );
    const publish = (manager: PublishOptions['manager']) =>
      automation.report('job.started', EXAMPLES['job.started'] as never, { userId: 'frank', manager });
    const before = await accepted();
    const rolledBack = app.get(DataSource).transaction(async (manager) => {
      await publish(manager);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(await accepted()).toBe(before);
    await app.get(DataSource).transaction(async (manager) => {
      await publish(manager);
      expect(await accepted()).toBe(before);
      await manager.transaction(async (nested) => void (await publish(nested)));
      const undone = manager.transaction(async (nested) => {
        await publish(nested);
        throw new Error('rolled back to the savepoint');
      });
      await expect(undone).rejects.toThrow('savepoint');
    });
    expect(await accepted()).toBe(before + 2);
  });

  it('rejects invalid data in process as over HTTP', async () => {
    const publish = (data: object) => automation.report('job.started', data as never, { userId: 'alice' });
    await expect(publish({})).rejects.toThrow("data must have required property 'jobId'");
    await expect(publish({ ...EXAMPLES['job.started'], attempt: NaN })).rejects.toThrow(/finite/);
    const large = { ...EXAMPLES['job.started'], filler: 'x'.repeat(98_304) };
    await expect(publish(large)).rejects.toThrow(/larger than the 98304 bytes/);
  });

  const rowsOf = (eventId: string) =>
    database.query('select id from webhook_service.events where id::text = $1', [eventId]);

  async function fannedOut(eventId: string): Promise<void> {
    const done = 'select 1 from webhook_service.events where id = $1 and fanned_out_at is not null';
    await waitFor(async () => (await database.query(done, [eventId])).length > 0, { what: 'the fan-out' });
  }
});
