import { dataOf, unanswered } from './answer';
import type { WebhookServiceError } from './service-error';

const WHAT = 'GET http://service.test/api/me';

function errorOf(status: number, text: string, headers: Record<string, string> = {}): WebhookServiceError {
  try {
    dataOf({ kind: 'answer', status, text, header: (name) => headers[name] ?? null }, WHAT);
  } catch (error) {
    return error as WebhookServiceError;
  }
  throw new Error('It was taken for a success.');
}

describe('dataOf', () => {
  it('returns the data of a success', () => {
    const read = (status: number, text: string) => dataOf({ kind: 'answer', status, text, header: () => null }, WHAT);
    expect(read(200, '{"success":true,"data":{"id":1}}')).toEqual({ id: 1 });
    expect(read(202, '{"success":true,"data":[]}')).toEqual([]);
    expect(read(200, '{"success":true,"data":[],"nextCursor":null}')).toEqual({ data: [], nextCursor: null });
  });

  it('throws the error message of the service with status and request id', () => {
    const error = errorOf(404, '{"success":false,"error":"There is no webhook."}', { 'x-request-id': 'abc' });
    expect(error).toMatchObject({
      name: 'WebhookServiceError',
      message: 'There is no webhook.',
      status: 404,
      requestId: 'abc',
      fromService: true,
    });
    expect(error).toBeInstanceOf(Error);
  });

  it.each([
    [
      502,
      '<html>Bad Gateway</html>',
      { 'content-type': 'text/html; charset=utf-8' },
      /answered 502 with text\/html .+ proxy/,
    ],
    [503, '', {}, /answered 503 with nothing readable .+ proxy/],
    [404, 'Not found', { 'content-type': 'text/plain' }, /answered 404 with text\/plain .+ check that the url/],
    [200, '<html>Hello</html>', { 'content-type': 'text/html' }, /answered 200 with text\/html .+ check that the url/],
    [200, '{"success":true', { 'content-type': 'application/json' }, /answered 200/],
    [200, '{"hello":"world"}', { 'content-type': 'application/json' }, /answered 200/],
    [200, 'null', { 'content-type': 'application/json' }, /answered 200/],
    [301, '', { location: 'https://b.test/api/me' }, /answered 301 with a redirect to https:\/\/b\.test\/api\/me/],
    [500, '{"success":true,"data":1}', { 'content-type': 'application/json' }, /answered 500/],
    [500, '{"error":{"code":7}}', { 'content-type': 'application/json' }, /answered 500/],
  ])('throws a readable message for %i %s', (status, text, headers, message) => {
    const error = errorOf(status, text, headers as Record<string, string>);
    expect(error).toMatchObject({
      status,
      requestId: null,
      fromService: false,
      message: expect.stringMatching(message),
    });
    expect(error.message).toContain(WHAT);
    expect(error.message).not.toContain('<html>');
  });
});

describe('unanswered', () => {
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:9');
  it.each([
    [new TypeError('fetch failed', { cause: refused }), refused.message],
    [new TypeError('fetch failed', { cause: new AggregateError([refused, new Error('::1')]) }), refused.message],
    [Object.assign(new Error(''), { code: 'EPIPE' }), 'EPIPE'],
    [new Error('too late'), 'too late'],
    ['text', 'text'],
  ])('includes the innermost reason: %s', (cause, reason) => {
    expect(unanswered({ kind: 'error', cause }, WHAT)).toMatchObject({
      message: `No answer to ${WHAT}: ${reason}.`,
      status: null,
      requestId: null,
      cause,
    });
  });
});
