import { errorOf, type Failure, invalidFieldsOf } from '../../support/api';
import { useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { UNKNOWN_ID } from '../../e2e/stage/examples';
import { subscribe } from '../../e2e/stage/steps';

describe('A 400 lists all invalid fields of', () => {
  const service = useService();
  const call = (method: string, path: string, body?: unknown) => service.api.call(method, path, { body });

  it('a new webhook: unknown, missing, malformed, blocked', async () => {
    expect(await invalidFieldsOf(call('POST', '/api/webhooks', {}))).toEqual(['url: required', 'events: required']);
    const body = { url: 'http://10.0.0.1/', events: ['no.such'], secret: 'short', more: 1, constructor: 2 };
    expect((await invalidFieldsOf(call('POST', '/api/webhooks', body))).sort()).toEqual([
      'constructor: unknown_field',
      'events: unknown_event_type',
      'more: unknown_field',
      'secret: invalid',
      'url: destination_blocked',
    ]);
    const both = { url: 'ftp://example.com/', events: [] };
    expect((await invalidFieldsOf(call('POST', '/api/webhooks', both))).sort()).toEqual([
      'events: invalid',
      'url: invalid',
    ]);
  });

  it('path, query and body together', async () => {
    const update = { url: 'nonsense', active: 'yes' };
    expect((await invalidFieldsOf(call('PATCH', '/api/webhooks/17', update))).sort()).toEqual([
      'active: invalid',
      'path.id: invalid',
      'url: invalid',
    ]);
    const path = '/api/webhooks/17/deliveries?limit=0&status=lost&constructor=1';
    expect((await invalidFieldsOf(call('GET', path))).sort()).toEqual([
      'path.id: invalid',
      'query.constructor: unknown_field',
      'query.limit: invalid',
      'query.status: invalid',
    ]);
    expect(await invalidFieldsOf(call('GET', '/api/webhooks/17/deliveries/18'))).toEqual([
      'path.id: invalid',
      'path.deliveryId: invalid',
    ]);
    const save = { description: '', more: 1, schema: 5 };
    expect((await invalidFieldsOf(call('PUT', '/api/event-types/a.b?force=maybe', save))).sort()).toEqual([
      'description: invalid',
      'more: unknown_field',
      'query.force: invalid',
      'schema: invalid',
    ]);
  });

  it('an account, whose handle depends on its provider', async () => {
    const body = { provider: 'bluesky', handle: 'no handle', intervalSeconds: 1 };
    expect((await invalidFieldsOf(call('POST', '/api/accounts', body))).sort()).toEqual([
      'handle: invalid',
      'intervalSeconds: invalid',
    ]);
  });

  it('an event: first of the request, then of its data', async () => {
    const publish = (body: unknown, ...keys: string[]) =>
      service.api.publish(body, keys.length > 0 ? { 'idempotency-key': keys } : {});
    expect(await invalidFieldsOf(publish({ event: 1, userId: '', more: 1 }, 'a', 'b'))).toEqual([
      'more: unknown_field',
      'event: invalid',
      'data: required',
      'header.idempotency-key: invalid',
      'userId: invalid',
    ]);
    expect(await invalidFieldsOf(publish({ event: 'no.such', data: {} }))).toEqual(['event: unknown_event_type']);
    const data = { follower: { username: 5 }, followersCount: 'many' };
    const fields = await invalidFieldsOf(publish({ event: 'follower.gained', data }));
    expect(fields).toEqual(expect.arrayContaining(['data.follower.id: required', 'data.follower.username: invalid']));
    const large = { ...data, padding: 'x'.repeat(16_384) };
    expect(await invalidFieldsOf(publish({ event: 'follower.gained', data: large }))).toEqual([fields[0]]);
  });

  it('a batch, with the positions of its events', async () => {
    const valid = { event: 'job.started', data: {} };
    expect(await invalidFieldsOf(service.api.publishBatch({ events: [valid, 5, { ...valid, userId: 7 }] }))).toEqual([
      'events[1]: invalid',
      'events[2].userId: invalid',
    ]);
    const fields = await invalidFieldsOf(service.api.publishBatch({ events: Array(100).fill(valid) }));
    expect(fields).toHaveLength(10);
    expect(fields[0]).toMatch(/^events\[0]\.data\.\w+: required$/);
  });

  it('a request with more than 20, and names 20', async () => {
    const body = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`field${i}`, 1]));
    expect(await invalidFieldsOf(call('POST', '/api/tokens', body))).toHaveLength(20);
  });

  it('a list with a cursor of another list', async () => {
    expect(await errorOf(service.api.listWebhooks({ cursor: 'x' }), 'cursor_invalid')).toMatch(/cursor/);
    expect(await invalidFieldsOf(service.api.listWebhooks({ cursor: 'x' }))).toEqual(['query.cursor: invalid']);
    const stale = service.api.listAllDeliveries({ changedAfter: 'x' });
    expect(await invalidFieldsOf(stale)).toEqual(['query.changedAfter: invalid']);
  });

  it('rules that compare fields', async () => {
    const { id } = await subscribe(service.api, { url: 'https://example.com/' }, ['job.started']);
    const window = { since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' };
    expect(await invalidFieldsOf(service.api.recover(id, window))).toEqual(['until: invalid']);
    expect(await invalidFieldsOf(service.api.stats(window))).toEqual(['query.until: invalid']);
    expect(await invalidFieldsOf(service.api.updateWebhook(id, {}))).toEqual(['body: invalid']);
    const past = { name: 'x', scopes: ['webhooks:read'], expiresAt: '2020-01-01T00:00:00Z' };
    expect(await invalidFieldsOf(service.api.createToken(past))).toEqual(['expiresAt: invalid']);
  });

  it('a request never contains the value of a secret', async () => {
    const secret = 'top\u0000secret-value';
    const reply = await service.api.createWebhook({ url: 'https://example.com/', events: ['*'], secret });
    expect(reply).toMatchObject({ code: 'validation_failed', details: [{ field: 'secret' }] });
    expect(JSON.stringify(reply)).not.toContain('secret-value');
  });

  it('validation waits for authentication: without a token the response is 401, without the scope 403', async () => {
    await errorOf(service.api.withToken(null).updateWebhook('17', {}), 'unauthenticated');
    const reader = await service.apiFor('reader', ['webhooks:read']);
    await errorOf(reader.updateWebhook('17', { more: 1 }), 'scope_missing');
    await errorOf(service.api.readWebhook(UNKNOWN_ID), 'not_found');
  });
});

describe('An error of the service', () => {
  const service = useService();

  it('says nothing about its cause, and has the request id of the log', async () => {
    await service.database.query('alter table webhook_service.accounts rename to moved');
    const reply = await service.api.listAccounts();
    await service.database.query('alter table webhook_service.moved rename to accounts');
    expect(reply).toMatchObject({ status: 500, code: 'internal_error' });
    expect(JSON.stringify(reply)).not.toMatch(/accounts|relation|select/);
    const { requestId } = reply as Failure;
    const logged = new RegExp(`Request ${requestId} failed: .*relation .*accounts.* does not exist`);
    await waitFor(() => logged.test(service.logs()), { what: 'the cause in the log' });
  });
});
