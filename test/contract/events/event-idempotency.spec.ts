import { type Api, dataOf, errorOf } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../../e2e/stage/examples';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../../e2e/stage/steps';

describe('An idempotency key', () => {
  const service = useService();
  const receiver = useReceiver();
  const valid = { event: 'job.started', data: EXAMPLES['job.started'] };
  let keys = 0;
  const newKey = () => `key-${++keys}`;
  afterEach(() => deleteWebhooks(service.api));

  it('makes a repeat answer the first event', async () => {
    const idempotencyKey = newKey();
    const first = await dataOf(service.api.publish({ ...valid, idempotencyKey }), 202);
    const second = await dataOf(service.api.publish({ ...valid, idempotencyKey }), 202);
    expect(first.duplicate).toBe(false);
    expect(second).toEqual({ ...first, duplicate: true });
  });

  it('is the same in the body and in the header Idempotency-Key', async () => {
    const key = newKey();
    const first = await dataOf(service.api.publish(valid, { 'idempotency-key': key }), 202);
    const second = await dataOf(service.api.publish({ ...valid, idempotencyKey: key }), 202);
    const both = { ...valid, idempotencyKey: key };
    const third = await dataOf(service.api.publish(both, { 'idempotency-key': key }), 202);
    expect([second, third]).toEqual([
      { ...first, duplicate: true },
      { ...first, duplicate: true },
    ]);
  });

  it('is refused when header and body differ', async () => {
    const reply = service.api.publish({ ...valid, idempotencyKey: newKey() }, { 'idempotency-key': newKey() });
    expect(await errorOf(reply, 400)).toMatch(/idempotency/i);
  });

  it('is refused when there are two of them', async () => {
    const reply = service.api.publish(valid, { 'idempotency-key': [newKey(), newKey()] });
    expect(await errorOf(reply, 400)).toBe('The header Idempotency-Key may be sent only once.');
  });

  it('is a conflict with another event, other data or another audience', async () => {
    const idempotencyKey = newKey();
    await dataOf(service.api.publish({ ...valid, idempotencyKey }), 202);
    const others = [
      { event: 'job.completed', data: EXAMPLES['job.completed'] },
      { ...valid, data: { ...valid.data, attempt: 2 } },
      { ...valid, userId: null },
      { ...valid, userId: 'bob' },
    ];
    for (const other of others) {
      expect(await errorOf(service.api.publish({ ...other, idempotencyKey }), 'idempotency_key_reused')).toMatch(/key/);
    }
  });

  it('makes a publication a repeat whose objects have their members in another order', async () => {
    const type = { description: 'Any object.', schema: { type: 'object' } };
    await service.api.call('PUT', '/api/event-types/in.any_order', { body: type });
    const [key, inBatch] = [newKey(), newKey()];
    const bodyOf = (data: string, idempotencyKey: string) =>
      `{"event":"in.any_order","idempotencyKey":"${idempotencyKey}","data":${data}}`;
    const first = '{"a":1,"b":{"c":1.0,"d":[{"e":1,"f":"x"},2]}}';
    const [again, other] = [
      '{"b":{"d":[{"f":"\\u0078","e":1},2],"c":1},"a":1}',
      '{"b":{"d":[2,{"f":"x","e":1}],"c":1},"a":1}',
    ];
    type Published = { id: string; duplicate: boolean };
    const publishText = (data: string) =>
      service.api.call<Published>('POST', '/api/events', { rawBody: bodyOf(data, key) });
    const publishBatch = (idempotencyKey: string, ...events: string[]) => {
      const rawBody = `{"events":[${events.map((data) => bodyOf(data, idempotencyKey)).join()}]}`;
      return service.api.call<Published[]>('POST', '/api/events/batch', { rawBody });
    };
    const { id } = await dataOf(publishText(first), 202);
    const repeat = { id, duplicate: true };
    expect(await dataOf(publishText(again), 202)).toMatchObject(repeat);
    expect(await dataOf(publishBatch(key, again, first), 202)).toMatchObject([repeat, repeat]);
    await errorOf(publishText(other), 'idempotency_key_reused');
    expect(await errorOf(publishBatch(key, again, other), 'idempotency_key_reused')).toMatch(/^events\[1\]: [^;]*$/);
    await errorOf(publishBatch(inBatch, first, other), 'idempotency_key_reused');
    const answers = await dataOf(publishBatch(inBatch, first, again), 202);
    expect(answers.map(({ duplicate }) => duplicate)).toEqual([false, true]);
  });

  it('leads to one event and one delivery when fifty arrive at once', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started']);
    const body = { ...valid, idempotencyKey: newKey() };
    const replies = await Promise.all(Array.from({ length: 50 }, () => dataOf(service.api.publish(body), 202)));
    expect(new Set(replies.map(({ id }) => id)).size).toBe(1);
    expect(replies.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    await settledDeliveries(service.api, webhook, replies[0]!);
    const last = await publish(service.api, 'job.started');
    await waitFor(() => hook.calls.some(({ headers }) => headers['webhook-id'] === last.id), { what: 'a later event' });
    expect(hook.calls).toHaveLength(2);
  });

  it('lets one of fifty different events win when they arrive at once', async () => {
    const idempotencyKey = newKey();
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, attempt) =>
        service.api.publish({ ...valid, data: { ...valid.data, attempt }, idempotencyKey }),
      ),
    );
    const count = (status: number) => replies.filter((reply) => reply.status === status).length;
    expect([count(202), count(409)]).toEqual([1, 49]);
  });

  it('belongs to the publishing user', async () => {
    const idempotencyKey = newKey();
    const alice: Api = await service.apiFor('alice');
    const body = { ...valid, userId: 'alice', idempotencyKey };
    const first = await dataOf(service.api.publish(body), 202);
    const second = await dataOf(alice.publish(body), 202);
    expect(second).toMatchObject({ duplicate: false });
    expect(second.id).not.toBe(first.id);
  });

  it('may be any 255 printable ASCII characters', async () => {
    for (const idempotencyKey of ['~', `'; drop table "events" --`, 'k'.repeat(255)]) {
      await dataOf(service.api.publish({ ...valid, idempotencyKey }), 202);
    }
  });

  it.each(['', 'k'.repeat(256), 'schlüssel', 'line\nbreak', 5, {}])('may not be %j', async (idempotencyKey) => {
    expect(await errorOf(service.api.publish({ ...valid, idempotencyKey }), 400)).toMatch(/idempotency/i);
  });
});
