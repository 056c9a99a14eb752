import { valuesOf } from './headers';

describe('The values of a header', () => {
  it.each([
    ["Node's record", { 'webhook-id': 'a' }, ['a']],
    ['a record in another case', { 'Webhook-Id': 'a' }, ['a']],
    ['a record with arrays', { 'webhook-id': ['a', 'b'] }, ['a', 'b']],
    ['a Headers object', new Headers({ 'Webhook-Id': 'a' }), ['a']],
    ['a record without it', { other: 'a', 'webhook-id': undefined }, []],
    ['a Headers object without it', new Headers(), []],
    ['a record with a header named get', { get: 'x', 'webhook-id': 'a' }, ['a']],
    ['a record with invalid values', { 'webhook-id': [null, 5, 'a'] }, ['a']],
    ['nothing', undefined, []],
  ])('are found in %s', (_, headers, values) => {
    expect(valuesOf(headers as never, 'webhook-id')).toEqual(values);
  });
});
