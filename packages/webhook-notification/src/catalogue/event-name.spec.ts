import { BUILT_IN_EVENTS, isReserved, nameProblem, twinOf } from './event-name';

describe('The name of an additional event', () => {
  it.each([
    ...['invoice.paid', 'a.b.c', 'shop_2.order.shipped_late', '0.1', `a.${'b'.repeat(126)}`, 'invoice', '7', '_', '-'],
    ...['Invoice.paid', 'invoice-paid', 'ORDER_CREATED', 'x'.repeat(128), 'webhooks.sent', 'operator', 'constructor'],
  ])('may be %s', (name) => {
    expect(nameProblem(name)).toBeNull();
  });

  it.each(['', '.', 'a.', '.a', 'a..b', 'invoice.*', ' a.b', 'a.b\n', 'é.b', 'a/b', 'a:b', 'a b'])(
    'cannot be %p, which is no event name',
    (name) => {
      expect(nameProblem(name)).toMatch(/^is no event name/);
    },
  );

  it('has at most 128 characters', () => {
    expect(nameProblem(`a.${'b'.repeat(127)}`)).toMatch(/longer than the 128 characters/);
  });

  it.each(['webhook', 'webhook.sent', 'webhook.test', 'webhook.disabled', 'WebHook', 'Webhook.sent'])(
    'cannot be %s, which is reserved',
    (name) => {
      expect(isReserved(name)).toBe(true);
      expect(nameProblem(name)).toMatch(/^is reserved/);
    },
  );

  it.each(['operator.failing', 'Operator.x'])('cannot be %s, unless a type has it already', (name) => {
    expect(nameProblem(name)).toMatch(/^is reserved/);
    expect([nameProblem(name, true), isReserved(name)]).toEqual([null, false]);
  });

  it('has a twin when another one differs only in case', () => {
    const names = ['invoice.paid', 'Invoice-Paid'];
    expect(twinOf('Invoice.paid', names)).toBe('invoice.paid');
    expect([twinOf('invoice.paid', names), twinOf('invoice_paid', names)]).toEqual([undefined, undefined]);
  });

  it.each(BUILT_IN_EVENTS.filter((name) => !isReserved(name)))('cannot be %s, which is built in', (name) => {
    expect(nameProblem(name)).toMatch(/^is built in/);
  });
});
