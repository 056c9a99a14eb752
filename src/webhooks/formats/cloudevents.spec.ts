import fc from 'fast-check';
import { cloudEvent } from './cloudevents';

const NATIVE = { id: '0198c9f6', event: 'follower.gained', createdAt: '2026-11-24T09:30:00.000Z' };
const bodyOf = (data: string) => `${JSON.stringify(NATIVE).slice(0, -1)},"data":${data}}`;
const eventOf = (data: string, userId: string | null = null) => ({ body: bodyOf(data), userId, description: null });

// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md#3-envelope, and the required
// attributes of https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md#required-attributes
describe('cloudEvent', () => {
  it('has exactly these bytes', () => {
    expect(cloudEvent(eventOf('{"accountId":"1"}'))).toBe(
      '{"specversion":"1.0","id":"0198c9f6","source":"urn:webhook-notification-service:all","type":"follower.gained",' +
        '"time":"2026-11-24T09:30:00.000Z","datacontenttype":"application/json","data":{"accountId":"1"}}',
    );
  });

  it('has the subject of the event', () => {
    const body = JSON.stringify({ ...NATIVE, subject: 'invoice/1 "é"', data: {} });
    expect(JSON.parse(cloudEvent({ body, userId: null, description: null }))).toHaveProperty(
      'subject',
      'invoice/1 "é"',
    );
    expect(JSON.parse(cloudEvent(eventOf('{"subject":"of data"}')))).not.toHaveProperty('subject');
  });

  it.each([
    [null, 'all'],
    ['alice', 'user:alice'],
    ['all', 'user:all'],
    ['a@b.example', 'user:a%40b.example'],
    ['auth0|a:b', 'user:auth0%7Ca%3Ab'],
    ['A-Z_0.9', 'user:A-Z_0.9'],
  ])('names the source of an event for %p', (userId, source) => {
    const urn = `urn:webhook-notification-service:${source}`;
    expect(JSON.parse(cloudEvent(eventOf('{}', userId)))).toHaveProperty('source', urn);
    expect(urn).toMatch(/^urn:[a-z-]{2,32}:[A-Za-z0-9._~%:-]+$/); // RFC 8141, section 2
  });

  it.each([
    ['the largest numbers', '{"id":9007199254740991,"big":"18446744073709551615","x":1e+300}'],
    ['the order of keys', '{"1":0,"z":1,"a":{"y":2,"b":3}}'],
    ['hidden characters and escapes', '{"a":"\\u0000\\ud800\u202e\\"\\\\"}'],
    ['__proto__', '{"__proto__":{"a":1}}'],
  ])('keeps %s', (_, data) => {
    expect(cloudEvent(eventOf(data)).endsWith(`,"data":${data}}`)).toBe(true);
  });

  it('keeps the bytes of all data', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (data) => {
        const stored = JSON.stringify(JSON.parse(JSON.stringify(data)));
        expect(cloudEvent(eventOf(stored)).endsWith(`,"data":${stored}}`)).toBe(true);
      }),
    );
  });
});
