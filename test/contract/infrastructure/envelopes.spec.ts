import { once } from 'node:events';
import { connect } from 'node:net';
import { type CallOptions, dataOf, errorOf, readEnvelope } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { UNKNOWN_ID } from '../../e2e/stage/examples';
import { deleteWebhooks, subscribe } from '../../e2e/stage/steps';

describe('The envelope', () => {
  const service = useService();
  const receiver = useReceiver();
  const valid = { url: 'https://example.com/hook', events: ['job.started'] };
  const create = (options: CallOptions) => service.api.call('POST', '/api/webhooks', options);
  afterEach(() => deleteWebhooks(service.api));
  // Whatever a client sends, it is not the service that was at fault.
  afterAll(() => expect(service.logs()).not.toMatch(/"level":[56]0/));

  it.each([
    ...['{', '}', '{"url":', 'NaN', '{"url":NaN}', "{'url':1}", '{}{}', '{} {}', 'undefined', '\u0000', '{"a":1,}'],
    ...['\ufeff', '{"url":"\n"}', ''],
  ])('holds the 400 for the malformed body %j', async (rawBody) => {
    await errorOf(create({ rawBody }), 400);
  });

  it('holds the 400 for a body in UTF-16 and for bytes that are not UTF-8', async () => {
    await errorOf(create({ rawBody: Buffer.from(JSON.stringify(valid), 'utf16le') }), 400);
    const latin1 = Buffer.from(JSON.stringify({ ...valid, description: 'é' }), 'latin1');
    await errorOf(create({ rawBody: latin1 }), 'malformed_json');
  });

  it.each([
    ['GET', '/api'],
    ['GET', '/api/nothing'],
    ['GET', '/api/webhooks/'],
    ['POST', `/api/webhooks/${UNKNOWN_ID}/nothing`],
    ['PUT', '/api/nothing'],
    ['OPTIONS', '/api/nothing'],
  ])('holds the 404 for %s %s', async (method, path) => {
    await errorOf(service.api.call(method, path), 'route_not_found');
  });

  it.each([
    ['PUT', '/api/webhooks', 'GET, HEAD, POST'],
    ['DELETE', '/api/webhooks', 'GET, HEAD, POST'],
    ['OPTIONS', '/api/webhooks', 'GET, HEAD, POST'],
    ['PATCH', '/api/me', 'GET, HEAD'],
    ['PATCH', '/api/event-types', 'GET, HEAD, POST'],
    ['PUT', `/api/webhooks/${UNKNOWN_ID}`, 'DELETE, GET, HEAD, PATCH'],
    ['GET', `/api/webhooks/${UNKNOWN_ID}/test`, 'POST'],
    ['PROPFIND', '/health/live', 'GET, HEAD'],
  ])('holds the 405 for %s %s, with a token and without', async (method, path, allow) => {
    for (const api of [service.api, service.api.withToken(null)]) {
      const reply = await api.call(method, path);
      expect(reply).toMatchObject({ status: 405, code: 'method_not_allowed', headers: { allow } });
    }
  });

  it.each(['/api/%ZZ', '/api/webhooks/%ZZ', '/api/webhooks/%', '/api/webhooks/%00', '/api/webhooks/%C3%28'])(
    'holds the answer to the badly encoded %s',
    async (path) => {
      const reply = await service.api.call('GET', path);
      expect(reply.success).toBe(false);
      expect([400, 404]).toContain(reply.status);
    },
  );

  it('holds the 404 for a parameter that is too long', async () => {
    await errorOf(service.api.readWebhook('a'.repeat(1000)), 404);
    await errorOf(service.api.readDelivery(UNKNOWN_ID, 'a'.repeat(1000)), 404);
  });

  it('holds the 413 for a body of more than 64 KiB', async () => {
    const frame = JSON.stringify({ ...valid, description: '' }).length;
    const ofSize = (bytes: number) => JSON.stringify({ ...valid, description: 'x'.repeat(bytes - frame) });
    expect(await errorOf(create({ rawBody: ofSize(65_536) }), 400)).toMatch(/description/);
    await errorOf(create({ rawBody: ofSize(65_537) }), 'body_too_large');
  });

  it.each([
    ...[undefined, 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/json'],
    ...['application/xml', 'application/jsonp', 'application/octet-stream', 'nonsense'],
  ])('holds the 415 for a body of the type %s', async (type) => {
    const rawBody = JSON.stringify(valid);
    await errorOf(create({ rawBody, headers: { 'content-type': type } }), 'unsupported_media_type');
  });

  it('takes JSON with a charset, and in any case', async () => {
    for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON']) {
      await dataOf(create({ body: valid, headers: { 'content-type': type } }), 201);
    }
  });

  it('counts an empty body of type JSON as none where a body is optional or absent', async () => {
    const empty = { rawBody: '', headers: { 'content-type': 'application/json' } };
    const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
    await dataOf(service.api.call('GET', `/api/webhooks/${id}`, empty));
    await dataOf(service.api.call('POST', `/api/webhooks/${id}/test`, empty));
    await dataOf(service.api.call('POST', `/api/webhooks/${id}/test`));
    await dataOf(service.api.call('DELETE', `/api/webhooks/${id}`, empty));
  });

  it('holds the 400 for no body where one is needed', async () => {
    await errorOf(create({}), 400);
    await errorOf(service.api.call('POST', '/api/events'), 400);
    await errorOf(service.api.call('PATCH', `/api/webhooks/${UNKNOWN_ID}`), 400);
  });

  it('comes with the x-request-id of the request, or with a new one', async () => {
    const idFor = async (id?: string) => {
      const { headers } = await service.api.call('GET', '/api/me', { headers: { 'x-request-id': id } });
      return String(headers['x-request-id']);
    };
    expect(await idFor('my-request.17')).toBe('my-request.17');
    const made = await Promise.all([idFor(), idFor()]);
    expect(new Set(made).size).toBe(2);
    for (const strange of ['a b', 'x'.repeat(1000), '<script>', '']) expect(await idFor(strange)).not.toBe(strange);
    const { headers } = await service.api.call('GET', '/api/nothing', { headers: { 'x-request-id': 'kept-on-404' } });
    expect(headers['x-request-id']).toBe('kept-on-404');
  });

  it.each([
    ['no HTTP at all', 'HELLO THERE\r\n\r\n', 'malformed_request'],
    ['a header without a colon', 'GET /api/me HTTP/1.1\r\nhost: x\r\nbroken\r\n\r\n', 'malformed_request'],
    [
      'two lengths',
      'POST /api/events HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      'malformed_request',
    ],
    ['no Host', 'GET /api/me HTTP/1.1\r\nconnection: close\r\n\r\n', 'malformed_request'],
    ['two Hosts', 'GET /api/me HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n', 'malformed_request'],
    [
      'an expectation',
      'GET /api/me HTTP/1.1\r\nhost: x\r\nexpect: a pony\r\nconnection: close\r\n\r\n',
      'expectation_unknown',
    ],
    ['a rare method', 'QUERY /api/webhooks HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 'method_not_allowed'],
    ['a proxy', 'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n', 'malformed_request'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'malformed_request'],
    ['too many headers', `GET /api/me HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(100_000)}\r\n\r\n`, 'headers_too_large'],
  ])('holds the answer to %s', async (_, text, code) => {
    const answer = await sendRaw(service.url, text);
    expect(readEnvelope('broken HTTP', answer)).toMatchObject({ success: false, code });
    expect(answer.headers['x-request-id']).toMatch(/./);
  });

  it('is that of a good request, also when no HTTP follows it on its connection', async () => {
    const body = JSON.stringify(valid);
    const head = [
      'POST /api/webhooks HTTP/1.1',
      'host: x',
      `authorization: Bearer ${service.token}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];
    const answer = await sendRaw(service.url, `${head.join('\r\n')}\r\n\r\n${body}GARBAGE\r\n\r\n`);
    expect(readEnvelope('a good request', answer)).toMatchObject({ success: true, data: { url: valid.url } });
  });
});

/** Sends the text as it is and reads the answer up to the end of the connection. */
async function sendRaw(url: string, text: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
  // The service may hang up while we still write.
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => line.split(': ', 2)).map(([k, v]) => [k!.toLowerCase(), v]));
  return { status: Number(statusLine.split(' ')[1]), headers, text: body };
}
