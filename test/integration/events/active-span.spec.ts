import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { database, EventsService as ApplicationEventsService } from 'webhook-notification/nest';
import { SweeperService } from '../../../src/deliveries/sweeping/sweeper.service';
import { EventsService } from '../../../src/events/events.service';
import { WebhooksService } from '../../../src/webhooks/webhooks.service';
import { EXAMPLES } from '../../e2e/stage/examples';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { waitFor } from '../../support/wait-for';
import { startApplication, stopApplication } from '../stage/application';

const JOB = EXAMPLES['job.started'] as never;

describe('The active span of an application', () => {
  const receiver = useReceiver();
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  let testDatabase: TestDatabase;
  let app: NestFastifyApplication;
  let events: EventsService;
  let elsewhere: Client;

  beforeAll(async () => {
    provider.register();
    testDatabase = await cloneDatabase();
    app = await startApplication(testDatabase.url, []);
    events = app.get(EventsService);
    elsewhere = new Client({ connectionString: testDatabase.url });
    await elsewhere.connect();
    await app.get(WebhooksService).create('alice', { url: receiver.hook().url, events: ['job.started'] });
  });
  afterAll(async () => {
    await elsewhere.end();
    await stopApplication(app);
    await testDatabase.drop();
    trace.disable();
    context.disable();
  });

  const during = <T>(work: (span: Span) => Promise<T>): Promise<T> =>
    trace.getTracer('an application').startActiveSpan('work', async (span) => work(span).finally(() => span.end()));
  const spansOf = (name: string, id: string): Promise<ReadableSpan[]> =>
    waitFor(
      () => {
        const spans = exporter.getFinishedSpans().filter((span) => span.name === name);
        const found = spans.filter(({ attributes }) => attributes['webhooks.event.id'] === id);
        return found.length > 0 && found;
      },
      { what: `a span ${name} of event ${id}` },
    );
  const inTransaction = (publish: (manager: DataSource['manager']) => Promise<unknown>) =>
    app.get(DataSource).transaction((manager) => publish(manager));
  const options = { userId: 'alice' };

  it.each<[string, () => Promise<unknown>]>([
    ['by itself', () => events.publish('job.started', JOB, options)],
    ['with a key', () => events.publish('job.started', JOB, { ...options, idempotencyKey: 'a key' })],
    ['in a transaction', () => inTransaction((tx) => events.publish('job.started', JOB, { ...options, tx }))],
    ['with others', () => inTransaction((manager) => events.publishAll('job.started', [JOB], { ...options, manager }))],
    ['in a transaction of pg', () => events.publish('job.started', JOB, { ...options, tx: elsewhere })],
    [
      'from an application beside the service',
      () => {
        const transport = database({ connection: app.get(DataSource) });
        const application = new ApplicationEventsService({ application: 'shop', transport });
        return application.publish('job.started', JOB, options);
      },
    ],
  ])('is the parent of an event that it publishes %s', async (_, publish) => {
    const { traceId, spanId } = await during(async (span) => {
      await publish();
      return span.spanContext();
    });
    const stored = await testDatabase.query(
      'select id, traceparent from webhook_service.events order by id desc limit 1',
    );
    const { id, traceparent } = stored[0] as { id: string; traceparent: string };
    const [published] = await spansOf('publish', id);
    expect(published!.parentSpanContext).toMatchObject({ traceId, spanId });
    expect(traceparent).toBe(`00-${traceId}-${published!.spanContext().spanId}-01`);
    // It finds those that this process has not heard of.
    await app.get(SweeperService).sweep();
    for (const step of ['fan-out', 'deliver']) {
      const [span] = await spansOf(step, id);
      expect({ step, parent: span!.parentSpanContext }).toMatchObject({ step, parent: { traceId, isRemote: true } });
      expect(span!.parentSpanContext!.spanId).toBe(published!.spanContext().spanId);
    }
  });

  it('wins over the traceparent of a request, which is the parent where no span is active', async () => {
    const origin = { requestId: 'a request', traceparent: `00-${'7'.repeat(32)}-${'8'.repeat(16)}-01` };
    const publish = () => events.publishAs('alice', { name: 'job.started', data: JOB, ...options, origin });
    const { spanId, event } = await during(async (span) => ({ ...span.spanContext(), event: await publish() }));
    expect((await spansOf('publish', event.id))[0]!.parentSpanContext).toMatchObject({ spanId });
    const [alone] = await spansOf('publish', (await publish()).id);
    expect(alone!.parentSpanContext).toMatchObject({ traceId: '7'.repeat(32), spanId: '8'.repeat(16), isRemote: true });
  });

  it('has a failed child when publishing fails', async () => {
    const publish = (userId: string) => events.publish('job.started', JOB, { userId, idempotencyKey: 'taken' });
    await publish('alice');
    const { spanId } = await during(async (span) => {
      await expect(publish('bob')).rejects.toThrow();
      return span.spanContext();
    });
    const failed = exporter.getFinishedSpans().filter(({ parentSpanContext }) => parentSpanContext?.spanId === spanId);
    expect(failed).toMatchObject([
      {
        name: 'publish',
        attributes: { 'error.type': 'idempotency_key_reused' },
        status: { code: SpanStatusCode.ERROR },
        events: [],
      },
    ]);
    expect(failed[0]!.status.message).toBeUndefined();
  });
});
