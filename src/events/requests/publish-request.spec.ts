import { MESSAGES } from '../../infrastructure/errors/api-error';
import { parsePublishRequest } from './publish-request';

const request = { event: 'job.started', data: { a: 1 } };

const refusal = (message: string) => expect.objectContaining({ status: 400, message });

describe('A publish request', () => {
  it.each([
    ['the required fields', request, request],
    ['a user', { ...request, userId: 'bob' }, { ...request, userId: 'bob' }],
    ['everybody', { ...request, userId: null }, { ...request, userId: null }],
    ['a subject', { ...request, subject: 'invoice/1' }, { ...request, subject: 'invoice/1' }],
    ['no subject', { ...request, subject: null }, { ...request, subject: null }],
    ['a key', { ...request, idempotencyKey: 'k 1' }, { ...request, idempotencyKey: 'k 1' }],
  ])('with %s is parsed', (_, body, expected) => {
    expect(parsePublishRequest(body)).toEqual(expected);
  });

  it('keeps its data unchanged, whatever its keys', () => {
    const body = JSON.parse(
      '{"event":"a.b","data":{"constructor":1,"__proto__":{"b":2},"toJSON":3}}',
    ) as typeof request;
    expect(parsePublishRequest(body).data).toBe(body.data);
  });

  it('accepts its key from the header, or the same key in both places', () => {
    expect(parsePublishRequest(request, ['k']).idempotencyKey).toBe('k');
    expect(parsePublishRequest({ ...request, idempotencyKey: 'k' }, ['k']).idempotencyKey).toBe('k');
    expect(parsePublishRequest(request).idempotencyKey).toBeUndefined();
  });

  it('with two different keys is rejected', () => {
    const body = { ...request, idempotencyKey: 'a' };
    expect(() => parsePublishRequest(body, ['b'])).toThrow(refusal(MESSAGES.idempotencyKeyMismatch));
  });

  it.each([undefined, null, [], [request], 'text', 1, true])('must not be %p', (body) => {
    expect(() => parsePublishRequest(body)).toThrow(refusal(MESSAGES.badPublishRequest));
  });

  it.each([
    ['no event', { data: {} }, 'event must be a string'],
    ['an event that is not a string', { event: 1, data: {} }, 'event must be a string'],
    ['no data', { event: 'a.b' }, 'data must be a JSON object'],
    ['a number for a user', { ...request, userId: 1 }, MESSAGES.badUserId],
    ['an empty user', { ...request, userId: '' }, MESSAGES.badUserId],
    ['a user with a space', { ...request, userId: 'a b' }, MESSAGES.badUserId],
    ['a null key', { ...request, idempotencyKey: null }, MESSAGES.badIdempotencyKey],
    ['an empty key', { ...request, idempotencyKey: '' }, MESSAGES.badIdempotencyKey],
    ['a subject with a line break', { ...request, subject: 'a\nb' }, MESSAGES.badSubject],
    ['an id', { ...request, id: '1' }, 'id is not a known field'],
  ])('with %s is rejected', (_, body, message) => {
    expect(() => parsePublishRequest(body)).toThrow(refusal(message));
  });

  it.each([
    ['an empty key', [''], MESSAGES.badIdempotencyKey],
    ['several keys', ['a', 'a'], MESSAGES.severalIdempotencyKeys],
  ])('with %s in the header is rejected', (_, headerKeys, message) => {
    const details = [{ field: 'header.idempotency-key', code: 'invalid', message }];
    expect(() => parsePublishRequest(request, headerKeys)).toThrow(expect.objectContaining({ message, details }));
  });

  it.each(['__proto__', 'constructor', 'toString', 'Event'])('with the own property %s is rejected', (field) => {
    const body: unknown = JSON.parse(`{"event":"a.b","data":{},"${field}":1}`);
    expect(() => parsePublishRequest(body)).toThrow(refusal(`${field} is not a known field`));
  });

  it('reports every error at once', () => {
    const body = { userId: '', idempotencyKey: '', colour: 'red' };
    const problems = ['colour is not a known field', 'event must be a string', 'data must be a JSON object'];
    const message = [...problems, MESSAGES.badIdempotencyKey, MESSAGES.badUserId].join('; ');
    expect(() => parsePublishRequest(body)).toThrow(refusal(message));
  });
});
