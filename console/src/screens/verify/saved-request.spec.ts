import { headerLines, parseHeaders, splitRequest } from './saved-request';

const bytes = (text: string) => new TextEncoder().encode(text);
const HEADERS = 'host: x\nWebhook-Id:  evt_1 ';
const BODY = '{"id":"evt_1","data":{"text":"é\\r\\n\\r\\nb: 1"}}';

describe('A saved request', () => {
  it.each(['\r\n', '\n'])('is split into headers and body, with %j between its lines', (end) => {
    const raw = ['POST /in?a=1 HTTP/1.1', ...HEADERS.split('\n'), '', BODY].join(end);
    expect(splitRequest(bytes(raw))).toEqual({ headers: HEADERS, body: bytes(BODY) });
    expect(splitRequest(bytes(raw.slice(raw.indexOf('host'))))).toEqual({ headers: HEADERS, body: bytes(BODY) });
  });

  it('keeps every byte of its body', () => {
    const body = Uint8Array.from([0xff, 0, 13, 10, 13, 10, 0xc3, 10]);
    expect(splitRequest(Uint8Array.from([...bytes('a: 1\r\n\r\n'), ...body]))?.body).toEqual(body);
  });

  const request = { headers: { 'webhook-id': 'evt_1', a: ['1', '2'] }, body: BODY };
  it.each([[request], [{ id: 1, request }], [{ success: true, data: { request } }]])(
    'is read from JSON: %j',
    (json) => {
      const saved = bytes(JSON.stringify(json));
      expect(splitRequest(saved)).toEqual({ headers: 'webhook-id: evt_1\na: 1\na: 2', body: bytes(BODY) });
    },
  );

  it.each([BODY, 'a: 1\nb: 2', '', '{\n\n}', 'some text\n\nmore', '\n\nbody', 'null'])('is not %j', (text) => {
    expect(splitRequest(bytes(text))).toBeNull();
  });
});

describe('Headers', () => {
  it('are read by lower-case name, whatever the lines end with', () => {
    const { headers, faulty } = parseHeaders('POST / HTTP/1.1\r\nA: 1\r\nb: x: y\r\n\r\na:2\n');
    expect(headers).toEqual({ a: '1, 2', b: 'x: y' });
    expect(faulty).toBeNull();
  });

  it('are the same after being written as lines', () => {
    const headers = { a: '1', b: ['2', '3'], c: '' };
    expect(parseHeaders(headerLines(headers)).headers).toEqual({ a: '1', b: '2, 3', c: '' });
  });

  it('are reported when a line is none', () => {
    expect(parseHeaders('a: 1\nno header\nneither').faulty).toBe('no header');
  });
});
