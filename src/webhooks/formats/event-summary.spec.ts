import { fittingFields, summaryOf } from './event-summary';

const eventOf = (data: unknown, description: string | null = null) => ({
  body: JSON.stringify({ id: 'e1', event: 'job.started', createdAt: '2026-11-24T09:30:00.000Z', data }),
  userId: null,
  description,
});
const lines = (data: unknown) => summaryOf(eventOf(data)).fields.map(({ name, value }) => `${name}: ${value}`);
const nested = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : { a: nested(depth - 1, inner) });

describe('summaryOf', () => {
  it('has the name, description, time and id of the event', () => {
    const summary = summaryOf(eventOf({}, 'A job has\tstarted.'));
    expect(summary).toEqual({
      ...{ title: 'job.started', description: 'A job has\ufffdstarted.', fields: [], fieldCount: 0 },
      ...{ time: '2026-11-24T09:30:00.000Z', id: 'e1' },
    });
    expect(summaryOf(eventOf({})).description).toBeNull();
  });

  it.each([
    [{ a: 1, b: 'x' }, ['a: 1', 'b: x']],
    [{ a: { b: { c: 1 }, d: 2 }, e: 3 }, ['a.b.c: 1', 'a.d: 2', 'e: 3']],
    [{ a: [1, { b: 2 }, [3]] }, ['a.0: 1', 'a.1.b: 2', 'a.2.0: 3']],
    [{ a: {}, b: [], c: { d: [] } }, ['a: {}', 'b: []', 'c.d: []']],
    [{ a: null, b: false, c: 0, d: 1e300, e: '' }, ['a: null', 'b: false', 'c: 0', 'd: 1e+300', 'e: ""']],
    [{ a: 'x\ny: z', 'b\n': 1 }, ['a: x\ufffdy: z', 'b\ufffd: 1']],
    [{ ['n'.repeat(101)]: 'v'.repeat(401) }, [`${'n'.repeat(99)}…: ${'v'.repeat(399)}…`]],
  ])('lists the fields of %j as %j', (data, expected) => {
    expect(lines(data)).toEqual(expected);
  });

  it('lists a field called __proto__', () => {
    const event = eventOf({});
    expect(summaryOf({ ...event, body: event.body.replace('{}', '{"__proto__":{"a":1}}') }).fields).toEqual([
      { name: '__proto__.a', value: '1' },
    ]);
  });

  it('lists 20 fields and counts all', () => {
    const summary = summaryOf(eventOf({ first: 1, list: Array(500).fill({ a: 1, b: [2] }) }));
    expect(summary.fields.map(({ name }) => name).slice(-3)).toEqual(['list.8.a', 'list.8.b.0', 'list.9.a']);
    expect(summary).toMatchObject({ fields: { length: 20 }, fieldCount: 1001 });
  });

  it('needs no stack for deep data', () => {
    const body = eventOf(0).body.replace(/0}$/, `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_001)}`);
    expect(summaryOf({ ...eventOf({}), body }).fieldCount).toBe(1);
    expect(lines(nested(64, 1))).toEqual([`${'a.'.repeat(49)}a…: 1`]);
  });

  it('throws for a body that is not JSON', () => {
    expect(() => summaryOf({ ...eventOf({}), body: '{' })).toThrow(SyntaxError);
  });
});

describe('fittingFields', () => {
  const summary = summaryOf(eventOf({ a: 'xx', b: 'xxx', c: 'x' }));
  const fitted = (budget: number) =>
    fittingFields(summary, { budget, render: ({ value }) => value, sizeOf: ({ length }) => length });

  it.each([
    [6, ['xx', 'xxx', 'x'], null],
    [5, ['xx', 'xxx'], '… and 1 more'],
    [4, ['xx'], '… and 2 more'],
    [1, [], '… and 3 more'],
  ])('renders with a budget of %d: %j, %j', (budget, rendered, more) => {
    expect(fitted(budget)).toEqual({ rendered, more });
  });

  it('counts the fields that the summary does not list', () => {
    const { more } = fittingFields(summaryOf(eventOf({ list: Array(25).fill(0) })), {
      ...{ budget: 1000, render: ({ name }) => name, sizeOf: () => 1 },
    });
    expect(more).toBe('… and 5 more');
  });
});
