import { applicationIdOf, endpointsPageOf, headersOf, isTransformedBy, keyOf } from './svix-answers';

const ENDPOINT = { id: 'ep_1', url: 'https://a.example', description: 'A', metadata: {}, version: 1 };
const page = (...data: unknown[]) => endpointsPageOf({ data, iterator: 'ep_1', done: true });

describe('What Svix answers', () => {
  it('may have the names of its OpenAPI document or those of its newer clients', () => {
    const old = page({ ...ENDPOINT, filterTypes: ['a.b'], rateLimit: 3 });
    expect(old).toEqual({
      next: null,
      endpoints: [
        {
          ...{ id: 'ep_1', uid: null, url: 'https://a.example', description: 'A', disabled: false },
          ...{ filterTypes: ['a.b'], channels: null, rateLimit: 3, metadata: {} },
        },
      ],
    });
    expect(page({ ...ENDPOINT, eventTypes: ['a.b'], throttleRate: 3 })).toEqual(old);
  });

  it('has a next page unless it is done', () => {
    expect(endpointsPageOf({ data: [], iterator: 'x', done: false })).toEqual({ endpoints: [], next: 'x' });
    expect(endpointsPageOf({ data: [], iterator: null, done: true })).toEqual({ endpoints: [], next: null });
  });

  it.each([
    null,
    [],
    'text',
    { data: [], iterator: null, done: false },
    { data: {}, iterator: null, done: true },
    { data: [{ ...ENDPOINT, id: 7 }], done: true },
    { data: [{ ...ENDPOINT, url: undefined }], done: true },
    { data: [{ ...ENDPOINT, filterTypes: 'a.b' }], done: true },
    { data: [{ ...ENDPOINT, channels: [1] }], done: true },
    { data: [{ ...ENDPOINT, metadata: { a: 1 } }], done: true },
  ])('is no page of endpoints: %j', (answer) => {
    expect(endpointsPageOf(answer)).toBeNull();
  });

  it('is an application, a secret, headers or a transformation only in its shape', () => {
    expect([applicationIdOf({ id: 'app_1' }), applicationIdOf({ id: '' }), applicationIdOf(1)]).toEqual([
      'app_1',
      null,
      null,
    ]);
    expect([keyOf({ key: 'whsec_' }), keyOf({})]).toEqual(['whsec_', null]);
    expect(headersOf({ headers: { a: 'b' }, sensitive: ['c', 'b'] })).toEqual({
      headers: { a: 'b' },
      sensitive: ['b', 'c'],
    });
    expect([headersOf({ headers: { a: 1 } }), headersOf({ sensitive: [] })]).toEqual([null, null]);
    expect(
      [{ enabled: true, code: 'x' }, { enabled: false, code: 'x' }, { code: null }, []].map(isTransformedBy),
    ).toEqual([true, false, false, false]);
  });
});
