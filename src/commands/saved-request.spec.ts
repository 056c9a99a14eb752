import { parseHeaders, parseSavedRequest } from './saved-request';

const BODY = '{"id":"evt_1","data":{"text":"a\\r\\n\\r\\nb: é"}}';

describe('A saved request', () => {
  it.each(['\r\n', '\n'])('is read from a raw request with %j between its lines', (end) => {
    const raw = ['POST /hook HTTP/1.1', 'Host: x', 'Webhook-Id:  evt_1 ', 'a: 1', 'A: 2', '', BODY].join(end);
    expect(parseSavedRequest(Buffer.from(raw))).toEqual({
      headers: { host: 'x', 'webhook-id': 'evt_1', a: '1, 2' },
      body: Buffer.from(BODY),
    });
  });

  it('keeps every byte of its body', () => {
    const body = Buffer.from([0xff, 0, 13, 10, 13, 10, 0xc3]);
    expect(parseSavedRequest(Buffer.concat([Buffer.from('a: 1\r\n\r\n'), body])).body).toEqual(body);
  });

  const request = { headers: { 'Webhook-Id': 'evt_1', a: ['1', '2'] }, body: BODY };
  it.each([[request], [{ id: 1, request }], [{ success: true, data: { request } }]])(
    'is read from JSON: %j',
    (json) => {
      expect(parseSavedRequest(Buffer.from(JSON.stringify(json, null, 2)))).toEqual({
        headers: { 'webhook-id': 'evt_1', a: '1, 2' },
        body: Buffer.from(BODY),
      });
    },
  );

  it('is rejected without an empty line, with advice', () => {
    expect(() => parseSavedRequest(Buffer.from('a: 1\nb: 2'))).toThrow(/--headers and --body/);
  });

  it('may have separate headers, as lines or as JSON', () => {
    expect(parseHeaders('A: 1\nb: x: y\n')).toEqual({ a: '1', b: 'x: y' });
    expect(parseHeaders('{"A": "1", "b": ["x", "y"]}')).toEqual({ a: '1', b: 'x, y' });
  });
});
