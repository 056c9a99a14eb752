import { faultAt, faultElsewhere, faultyParts, hasFaults } from './faults';

const invalid = (...faults: [string, string][]) =>
  Object.assign(new Error(), { details: faults.map(([field, message]) => ({ field, code: 'invalid', message })) });
const error = invalid(['events', 'events must not be empty'], ['events[2]', 'it is unknown'], ['url', 'no URL']);

describe('faults of a request', () => {
  it('stand at their field with those of its parts', () => {
    expect(faultAt(error, 'events')).toBe('events must not be empty; it is unknown');
    expect(faultAt(error, 'url')).toBe('no URL');
    expect(faultAt(invalid(['headers.X-A', 'no']), 'headers')).toBe('no');
    expect(faultAt(invalid(['filter["data.a"].gte', 'no']), 'filter')).toBe('no');
    expect(faultAt(invalid(['urls', 'no']), 'url')).toBeNull();
    expect(faultAt(null, 'url')).toBeNull();
  });

  it('remain for the form where it has no such field', () => {
    expect(faultElsewhere(error, ['url', 'events'])).toBeNull();
    expect(faultElsewhere(error, ['events'])).toBe('no URL');
  });

  it('are absent from other errors', () => {
    expect(hasFaults(error)).toBe(true);
    expect(hasFaults(invalid())).toBe(false);
    expect(hasFaults(new Error('There is one.'))).toBe(false);
  });

  it.each([
    [invalid(['headers.b', 'no']), [false, true]],
    [invalid(['headers', 'must not have the name "b"']), [false, true]],
    [invalid(['headers', 'too many']), [true, false]],
    [invalid(['url', 'no']), [false, false]],
  ])('name the faulty parts of a field', (each, faulty) => {
    const parts = ['a', 'b'].map((name) => ({ path: `headers.${name}`, name }));
    expect(faultyParts(each, 'headers', parts)).toEqual(faulty);
  });
});
