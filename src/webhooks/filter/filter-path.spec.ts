import { pathError, valuesOf } from './filter-path';

const at = (path: string, json: string): readonly unknown[] =>
  valuesOf({ event: 'order.paid', userId: null, data: JSON.parse(json) as unknown })(path.split('.'));

describe('valuesOf', () => {
  it.each([
    ['event', '{}', ['order.paid']],
    ['userId', '{}', [null]],
    ['data', '{"a":1}', [{ a: 1 }]],
    ['data.a.b', '{"a":{"b":1}}', [1]],
    ['data.a', '{"a":null}', [null]],
    ['data.a', '{"a":[1,"x",null,{}]}', [1, 'x', null, {}]],
    ['data.a.b', '{"a":[{"b":1},{"c":2},{"b":null},3,null]}', [1, null]],
    ['data.a.b.c', '{"a":[{"b":{"c":1}},{"b":[{"c":2}]}]}', [1]],
    ['data.0', '[{"0":7},8]', [7]],
    ['data.__proto__', '{"__proto__":{"x":1}}', [{ x: 1 }]],
    ['data.__proto__.x', '{"__proto__":{"x":1}}', [1]],
    ['data.constructor', '{"constructor":5}', [5]],
  ])('%s of %s is %j', (path, json, values) => {
    expect(at(path, json)).toEqual(values);
  });

  it.each([
    ['data.a', '{}'],
    ['data.a.b', '{"a":null}'],
    ['data.a.b', '{"a":"b"}'],
    ['data.a.length', '{"a":"b"}'],
    ['data.a.0', '{"a":"b"}'],
    ['data.a.length', '{"a":[1]}'],
    ['data.a.0', '{"a":[1]}'],
    ['data.a', '{"a":[]}'],
    ['data.a', '{"a":[[1],[]]}'],
    ['data.a.b', '{"a":[{"b":[1]}]}'],
    ['data.__proto__', '{}'],
    ['data.constructor', '{}'],
    ['data.constructor.name', '{}'],
    ['data.a.__proto__', '{"a":[{}]}'],
    ['data.a.toString', '{"a":[{}]}'],
  ])('%s is missing in %s', (path, json) => {
    expect(at(path, json)).toEqual([]);
  });

  it('reads the subject, which is missing in an event without one', () => {
    const event = { event: 'order.paid', userId: null, data: { subject: 'of data' } };
    expect(valuesOf({ ...event, subject: 'invoice/1' })(['subject'])).toEqual(['invoice/1']);
    for (const without of [event, { ...event, subject: undefined }]) expect(valuesOf(without)(['subject'])).toEqual([]);
    expect(pathError('subject', 'filter.subject')).toBeUndefined();
    expect(pathError('subject.a', 'filter.subject')?.message).toContain('must end after subject');
  });

  it('counts the first 100 elements, also those without the path', () => {
    const elements = [...Array<unknown>(99).fill({}), { b: 99 }, { b: 100 }];
    expect(at('data.a.b', JSON.stringify({ a: elements }))).toEqual([99]);
    expect(at('data', JSON.stringify(Array(101).fill(1)))).toHaveLength(100);
  });

  it('reads what several paths begin with once', () => {
    let reads = 0;
    const data = {
      get a() {
        reads += 1;
        return [{ a: 1, b: 2 }, { b: 3 }];
      },
      b: { a: 4 },
    };
    const valuesAt = valuesOf({ event: 'order.paid', userId: null, data });
    const at = (path: string): readonly unknown[] => valuesAt(path.split('.'));
    expect(at('data.a.b')).toEqual([2, 3]);
    expect(at('data.b.a')).toEqual([4]);
    expect(at('data.a.a')).toEqual([1]);
    expect(at('data.a')).toHaveLength(2);
    expect(at('data.a.b')).toEqual([2, 3]);
    expect(reads).toBe(1);
  });
});

describe('pathError', () => {
  it.each(['event', 'userId', 'data', 'data.a', 'data.0', 'data.__proto__.constructor', 'data. ü-$', 'data.any'])(
    'accepts %s',
    (path) => {
      expect(pathError(path, 'field')).toBeUndefined();
    },
  );

  it.each([
    ['', 'unknown_field'],
    ['amount', 'unknown_field'],
    ['Data.a', 'unknown_field'],
    ['database', 'unknown_field'],
    ['__proto__', 'unknown_field'],
    ['constructor', 'unknown_field'],
    ['.data', 'unknown_field'],
    ['event.name', 'invalid'],
    ['userId.', 'invalid'],
    ['data.', 'invalid'],
    ['data..a', 'invalid'],
    ['data.\0', 'invalid'],
    ['data.\ud800', 'invalid'],
    ['\udc00', 'invalid'],
  ])('rejects %j as %s', (path, code) => {
    expect(pathError(path, 'field')).toMatchObject({ field: 'field', code });
  });
});
