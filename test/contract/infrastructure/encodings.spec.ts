import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { dataOf } from '../../support/api';
import { useService } from '../../support/service';
import { EXAMPLES } from '../../e2e/stage/examples';

const BODY = Buffer.from(JSON.stringify({ event: 'follower.gained', data: EXAMPLES['follower.gained'] }));

describe('A request body', () => {
  const service = useService();
  const headersOf = (more: object = {}) => ({
    ...{ authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    ...more,
  });

  it.each<[string, Buffer]>([
    ['gzip', gzipSync(BODY)],
    ['deflate', deflateSync(BODY)],
    ['br', brotliCompressSync(BODY)],
    ['zstd', BODY],
    ['GZIP', BODY],
    ['gzip, br', BODY],
    ['identity, gzip', BODY],
  ])('with content-encoding %s is refused on every route, with the encoding that is accepted', async (coding, body) => {
    for (const [method, path] of [
      ['POST', '/api/events'],
      ['POST', '/api/events/batch'],
      ['POST', '/api/webhooks'],
      ['PATCH', '/api/webhooks/x'],
    ]) {
      const headers = headersOf({ 'content-encoding': coding });
      const answer = await fetch(`${service.url}${path}`, { method, headers, body: new Uint8Array(body) });
      expect(await answer.json()).toMatchObject({
        code: 'unsupported_media_type',
        error: expect.stringContaining('content-encoding'),
      });
      expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    }
  });

  it.each(['identity', 'Identity', ''])('with content-encoding "%s" is read', async (coding) => {
    const headers = headersOf({ 'content-encoding': coding });
    const answer = await fetch(`${service.url}/api/events`, { method: 'POST', headers, body: new Uint8Array(BODY) });
    expect(answer.status).toBe(202);
  });

  /** Sends only the head of a request, and its body when it is invited. */
  async function expecting(length: number, path = '/api/events', more: object = {}) {
    const headers = headersOf({ expect: '100-continue', 'content-length': length, ...more });
    const sent = request(`${service.url}${path}`, { method: 'POST', headers });
    let isInvited = false;
    sent.on('continue', () => {
      isInvited = true;
      sent.end(BODY);
    });
    sent.flushHeaders();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    sent.destroy();
    return { status: answer.statusCode, isInvited };
  }

  it('that is announced is invited, and refused at once when it will be too large, or for another reason', async () => {
    expect(await expecting(BODY.length)).toEqual({ status: 202, isInvited: true });
    expect(await expecting(1e9)).toEqual({ status: 413, isInvited: false });
    expect(await expecting(1e9, '/api/events/batch')).toEqual({ status: 413, isInvited: false });
    expect(await expecting(70_000, '/api/webhooks')).toEqual({ status: 413, isInvited: false });
    expect(await expecting(10, '/api/nothing')).toEqual({ status: 404, isInvited: false });
    expect(await expecting(10, '/api/events', { 'content-encoding': 'gzip' })).toEqual({
      status: 415,
      isInvited: false,
    });
  });

  it('may be changed with a strong etag only, and a weak one is explained', async () => {
    const { id } = await dataOf(service.api.createWebhook({ url: 'https://example.com/', events: ['*'] }), 201);
    const path = `${service.url}/api/webhooks/${id}`;
    const read = await fetch(path, { headers: headersOf() });
    expect(read.headers.get('cache-control')).toBe('no-store, no-transform');
    const change = async (etag: string) => {
      const headers = headersOf({ 'if-match': etag });
      const answer = await fetch(path, { method: 'PATCH', headers, body: '{"description":"x"}' });
      return { status: answer.status, error: ((await answer.json()) as { error?: string }).error };
    };
    expect(await change(`W/${read.headers.get('etag')}`)).toEqual({
      status: 412,
      error: expect.stringContaining('weak etag'),
    });
    expect(await change('"other"')).toEqual({ status: 412, error: expect.stringContaining('was changed since') });
    expect(await change(read.headers.get('etag') ?? '')).toMatchObject({ status: 200 });
  });
});
