import { randomBytes, randomUUID } from 'node:crypto';
import { dataOf, type PublishedEvent } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { deleteWebhooks, settledDeliveries, subscribe } from '../stage/steps';

const PARENT = 'b7ad6b7169203331';
const JOB = { event: 'job.started', data: EXAMPLES['job.started'] };

type Line = Record<string, unknown>;

describeOnStores('A trace', (store) => {
  const service = useService(() => ({ MAX_RETRIES: '1', ...store.settings() }));
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  const newTrace = () => randomBytes(16).toString('hex');
  const publish = (headers: Record<string, string>, body: object = JOB): Promise<PublishedEvent> =>
    dataOf(service.api.publish(body, headers), 202);

  /** The lines of the log with this message about this event. */
  const linesOf = (msg: string, { id }: { id: string }): Line[] =>
    service
      .logs()
      .split('\n')
      .filter((line) => line.includes(id) && line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line.msg === msg);
  /** Its lines about being accepted: the answer may be here before them. */
  const toldLines = (event: { id: string }, count: number): Promise<Line[]> =>
    waitFor(
      () => {
        const lines = linesOf('event accepted', event);
        return lines.length >= count && lines;
      },
      { what: 'the lines of an accepted event' },
    );

  it('goes on at the receiver, in every attempt under another parent, also in a redelivery', async () => {
    const traceId = newTrace();
    const hook = receiver.hook({ status: 500 }, { status: 200 });
    const webhook = await subscribe(service.api, hook, ['job.started']);
    const traceparent = `00-${traceId}-${PARENT}-01`;
    const event = await publish({ traceparent });
    expect(await dataOf(service.api.readEvent(event.id))).toMatchObject({ traceparent });
    const rows = await waitFor(
      async () => {
        const log = await settledDeliveries(service.api, webhook, event);
        return log.length === 2 && log;
      },
      { what: 'the retry' },
    );
    await dataOf(service.api.redeliver(webhook.id, rows[0]!.id), 202);
    const sent = (await hook.received(3)).map(({ headers }) => String(headers.traceparent));
    for (const header of sent) expect(header).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    expect(new Set([...sent, `00-${traceId}-${PARENT}-01`]).size).toBe(4);
    const { request } = await dataOf(service.api.readDelivery(webhook.id, rows[0]!.id));
    expect(request!.headers).toMatchObject({ traceparent: sent[0] });
    const attempts = await waitFor(() => linesOf('attempt', event).length === 3 && linesOf('attempt', event), {
      what: 'the log',
    });
    expect(attempts.map(({ traceId: trace, spanId }) => [trace, spanId])).toEqual(
      sent.map((header) => [traceId, header.split('-')[2]]),
    );
  });

  it('goes on from a batch, for all of its events', async () => {
    const traceId = newTrace();
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['job.started']);
    const headers = { traceparent: `00-${traceId}-${PARENT}-00` };
    await dataOf(service.api.call('POST', '/api/events/batch', { body: { events: [JOB, JOB] }, headers }), 202);
    const sent = (await hook.received(2)).map(({ headers: { traceparent } }) => traceparent);
    for (const header of sent) expect(header).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  });

  it('goes on with an idempotency key too', async () => {
    const traceId = newTrace();
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['job.started']);
    await publish({ traceparent: `00-${traceId}-${PARENT}-01`, 'idempotency-key': randomUUID() });
    const [call] = await hook.received(1);
    expect(call!.headers.traceparent).toContain(traceId);
  });

  it.each<[string, Record<string, string>]>([
    ['missing', {}],
    ['not valid', { traceparent: `00-${'0'.repeat(32)}-${PARENT}-01` }],
    ['alone in tracestate', { tracestate: 'vendor=value' }],
  ])('is not made up when it is %s', async (_, headers) => {
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['job.started']);
    const event = await publish(headers);
    const [call] = await hook.received(1);
    expect([call!.headers.traceparent, call!.headers.tracestate]).toEqual([undefined, undefined]);
    const [line] = await toldLines(event, 1);
    expect(line).toMatchObject({ traceId: null });
  });

  it('and everything else about an accepted event stand in one line of the log, repeats included', async () => {
    const traceId = newTrace();
    const body = { ...JOB, idempotencyKey: randomUUID() };
    const headers = { traceparent: `00-${traceId}-${PARENT}-01`, 'x-request-id': 'the-first' };
    const event = await publish(headers, body);
    await publish({ 'x-request-id': 'the-second' }, body);
    const everybody = await publish({}, { ...JOB, userId: null });
    const known = {
      level: 30,
      context: 'AcceptedEventsService',
      eventId: event.id,
      event: 'job.started',
      audience: 'user',
    };
    expect(await toldLines(event, 2)).toEqual([
      { ...known, ...others, duplicate: false, requestId: 'the-first', traceId },
      { ...known, ...others, duplicate: true, requestId: 'the-second', traceId: null },
    ]);
    expect(await toldLines(everybody, 1)).toMatchObject([{ audience: 'everybody', duplicate: false }]);
  });
});

const others = { msg: 'event accepted', time: expect.any(String) as string };
