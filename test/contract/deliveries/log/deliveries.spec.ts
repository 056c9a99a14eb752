import { allPagesOf, dataOf, type Delivery, errorOf, pageOf } from '../../../support/api';
import { useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { waitFor } from '../../../support/wait-for';
import { UNKNOWN_ID } from '../../../e2e/stage/examples';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../../../e2e/stage/steps';

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

describe('The delivery log', () => {
  const service = useService({ MAX_RETRIES: '1', RETRY_BASE_DELAY_MS: '10' });
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  it('can be narrowed by status, event, event id, trigger and time', async () => {
    const hook = receiver.hook({ status: 500 }, { status: 500 }, { status: 200 });
    const webhook = await subscribe(service.api, hook, ['job.started', 'job.completed']);
    const lost = await publish(service.api, 'job.started');
    const [failed, givenUp] = await settledDeliveries(service.api, webhook, lost);
    const settledAt = Date.now();
    await waitFor(() => Date.now() > settledAt + 20, { what: 'a later moment', everyMs: 1 });
    const [won] = await settledDeliveries(service.api, webhook, await publish(service.api, 'job.completed'));
    // By the clock of the service, which may differ from that of the test.
    const boundary = Date.parse(won!.createdAt);
    expect(boundary).toBeGreaterThan(Date.parse(givenUp!.createdAt));
    const test = await dataOf(service.api.testWebhook(webhook.id));
    const all = [test, won!, givenUp!, failed!];
    const list = async (query: Record<string, string>) =>
      idsOf((await pageOf(service.api.listDeliveries(webhook.id, query))).rows);

    expect(await list({})).toEqual(idsOf(all));
    expect(await list({ status: 'failed' })).toEqual(idsOf([givenUp!, failed!]));
    expect(await list({ status: 'succeeded' })).toEqual(idsOf([test, won!]));
    expect(await list({ status: 'pending' })).toEqual([]);
    expect(await list({ event: 'job.completed' })).toEqual([won!.id]);
    expect(await list({ event: 'webhook.test' })).toEqual([test.id]);
    expect(await list({ eventId: lost.id })).toEqual(idsOf([givenUp!, failed!]));
    expect(await list({ eventId: UNKNOWN_ID })).toEqual([]);
    expect(await list({ trigger: 'test' })).toEqual([test.id]);
    expect(await list({ trigger: 'redelivery' })).toEqual([]);
    expect(await list({ trigger: 'event', status: 'succeeded', event: 'job.completed' })).toEqual([won!.id]);
    for (const offset of [0, 2, -5]) {
      const at = withOffset(boundary, offset);
      expect(await list({ since: at })).toEqual(idsOf([test, won!]));
      expect(await list({ until: at })).toEqual(idsOf([givenUp!, failed!]));
      expect(await list({ since: at, until: at })).toEqual([]);
    }
  });

  it.each([
    ...['status=lost', 'trigger=magic', 'eventId=17', 'since=yesterday'],
    ...['until=2026-02-30T25:00:00Z', 'limit=0', 'limit=251', 'cursor=AAAA'],
  ])('refuses %s', async (pair) => {
    const [name = '', value] = pair.split('=');
    const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
    expect(await errorOf(service.api.listDeliveries(id, { [name]: value }), 400)).toContain(name);
  });

  it('is read page by page, newest first, without skipping or repeating a row while new ones come', async () => {
    const webhook = await subscribe(service.api, receiver.hook(), ['job.started']);
    for (let i = 0; i < 7; i++) {
      await settledDeliveries(service.api, webhook, await publish(service.api, 'job.started'));
    }
    const { rows: before } = await pageOf(service.api.listDeliveries(webhook.id));
    expect(before).toHaveLength(7);
    const list = (query: object) => service.api.listDeliveries(webhook.id, { ...query, limit: 2 });
    const seen: Delivery[] = [];
    let cursor: string | undefined;
    do {
      const page = await pageOf(list({ cursor }));
      seen.push(...page.rows);
      cursor = page.nextCursor ?? undefined;
      await settledDeliveries(service.api, webhook, await publish(service.api, 'job.started'));
    } while (cursor);
    expect(idsOf(seen)).toEqual(idsOf(before));
  });

  it('keeps its order over rows of the same time', async () => {
    const webhook = await subscribe(service.api, receiver.hook(), ['job.started']);
    const events = await Promise.all(Array.from({ length: 9 }, () => publish(service.api, 'job.started')));
    for (const event of events) await settledDeliveries(service.api, webhook, event);
    const whole = (await pageOf(service.api.listDeliveries(webhook.id))).rows;
    const times = whole.map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
    const pages = await allPagesOf((query) => service.api.listDeliveries(webhook.id, query), { limit: 1 });
    expect(pages.flat()).toEqual(whole);
    expect(new Set(whole.map(({ eventId }) => eventId)).size).toBe(9);
  });

  it('takes a cursor for the webhook and the filters of its page only', async () => {
    const [one, other] = [
      await subscribe(service.api, receiver.hook(), ['job.started']),
      await subscribe(service.api, receiver.hook(), ['job.started']),
    ];
    for (let i = 0; i < 2; i++) {
      const event = await publish(service.api, 'job.started');
      for (const webhook of [one, other]) await settledDeliveries(service.api, webhook, event);
    }
    const { nextCursor } = await pageOf(service.api.listDeliveries(one.id, { limit: 1 }));
    const cursor = nextCursor!;
    expect((await pageOf(service.api.listDeliveries(one.id, { cursor }))).rows).toHaveLength(1);
    expect(await errorOf(service.api.listDeliveries(other.id, { cursor }), 400)).toMatch(/cursor/);
    expect(await errorOf(service.api.listDeliveries(one.id, { cursor, status: 'succeeded' }), 400)).toMatch(/cursor/);
    expect(await errorOf(service.api.listWebhooks({ cursor }), 400)).toMatch(/cursor/);
  });

  it('shows a single row only under its own webhook', async () => {
    const [one, other] = [
      await subscribe(service.api, receiver.hook(), ['job.started']),
      await subscribe(service.api, receiver.hook(), ['job.completed']),
    ];
    const [row] = await settledDeliveries(service.api, one, await publish(service.api, 'job.started'));
    expect(await dataOf(service.api.readDelivery(one.id, row!.id))).toMatchObject(row!);
    const unknown = await errorOf(service.api.readDelivery(one.id, UNKNOWN_ID), 404);
    expect(await errorOf(service.api.readDelivery(other.id, row!.id), 404)).toBe(unknown);
    await errorOf(service.api.readDelivery(one.id, 'not-a-uuid'), 400);
  });
});

function withOffset(time: number, hours: number): string {
  const local = new Date(time + hours * 3_600_000).toISOString();
  if (hours === 0) return local;
  return local.replace('Z', `${hours > 0 ? '+' : '-'}0${Math.abs(hours)}:00`);
}
