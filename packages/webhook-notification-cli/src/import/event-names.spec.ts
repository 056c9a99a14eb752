import { adviceOn, eventsOf, eventsProblem, parseEventNames, subscribable, unknownEvents } from './event-names';

describe('Event types of another system', () => {
  const names = parseEventNames('{"invoice-paid": "invoice.paid", "legacy": null, "a.one": "a.*", "a.two": "a.*"}');

  it.each([
    [
      ['b.b', 'a.a'],
      ['a.a', 'b.b'],
    ],
    [['invoice-paid', 'invoice.paid'], ['invoice.paid']],
    [['legacy', 'a.one', 'a.two'], ['a.*']],
    [['legacy'], []],
    [[' a.a ', ''], ['a.a']],
  ])('%j become %j', (types, events) => {
    expect(eventsOf(types, names)).toEqual(events);
  });

  it.each(['[]', 'null', '"a"', '{', '{"a": 1}'])('are not renamed by %s', (json) => {
    expect(() => parseEventNames(json)).toThrow('--map must');
  });

  it('are at least one and at most fifty', () => {
    const many = Array.from({ length: 50 }, (_, i) => `a.b${i}`);
    expect(eventsProblem([])).toMatch(/no event type/);
    expect(eventsProblem(many)).toBeNull();
    expect(eventsProblem([...many, 'a.c'])).toMatch(/51 event types/);
  });

  it('are unknown unless a name or a prefix matches, or the webhook has them', () => {
    const known = subscribable(['invoice.paid', 'shop.order.paid']);
    const events = ['*', 'invoice.*', 'invoice.paid', 'shop.order.*', 'shop.*', 'old.one', 'invoice', 'other.*'];
    expect(unknownEvents(events, known, ['old.one'])).toEqual(['invoice', 'other.*']);
  });

  it('that are unknown can be declared only if their names are possible', () => {
    for (const name of ['invoice.voided', 'invoice', 'Invoice.paid', 'invoice-paid'])
      expect(adviceOn(name)).toContain('POST /api/event-types');
    for (const name of ['invoice paid', 'invoice/paid', 'webhook.sent', 'operator.x', `a.${'b'.repeat(127)}`])
      expect(adviceOn(name)).toMatch(/^.* is .*: rename it with --map$/);
  });
});
