import { BUILT_IN_EVENTS, isReserved, nameProblem } from './event-name';

describe('The name of an additional event', () => {
  it.each(['invoice.paid', 'a.b.c', 'shop_2.order.shipped_late', '0.1', `a.${'b'.repeat(126)}`])(
    'may be %s',
    (name) => {
      expect(nameProblem(name)).toBeNull();
    },
  );

  it.each([
    '',
    'invoice',
    '.',
    'a.',
    '.a',
    'a..b',
    'Invoice.paid',
    'invoice-paid.x',
    'invoice.*',
    ' a.b',
    'a.b\n',
    'é.b',
  ])('cannot be %p, which is no event name', (name) => {
    expect(nameProblem(name)).toMatch(/^is no event name/);
  });

  it('has at most 128 characters', () => {
    expect(nameProblem(`a.${'b'.repeat(127)}`)).toMatch(/longer than the 128 characters/);
  });

  it.each(['webhook.sent', 'webhook.test', 'webhook.disabled'])('cannot be %s, which is reserved', (name) => {
    expect(isReserved(name)).toBe(true);
    expect(nameProblem(name)).toMatch(/^is reserved/);
  });

  it.each(BUILT_IN_EVENTS.filter((name) => !isReserved(name)))('cannot be %s, which is built in', (name) => {
    expect(nameProblem(name)).toMatch(/^is built in/);
  });
});
