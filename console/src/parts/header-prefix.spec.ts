import { prefixed, withOwnNames } from './header-prefix';

describe('The prefix of headers', () => {
  it('replaces that of the names on pages', () => {
    expect(prefixed('x-service-event', 'x-acme')).toBe('x-acme-event');
    expect([prefixed('x-service-event'), prefixed('webhook-id', 'x-acme')]).toEqual(['x-service-event', 'webhook-id']);
  });

  it('is read as the own one, and headers with that stay', () => {
    const headers = {
      'x-acme-signature-previous': 'a',
      'x-service-signature': 'b',
      'x-acme-signature': 'c',
      'webhook-id': 'd',
    };
    expect(withOwnNames(headers, ['x-acme'])).toEqual({ ...headers, 'x-service-signature-previous': 'a' });
    expect(withOwnNames({ 'webhook-id': 'd' }, [])).toEqual({ 'webhook-id': 'd' });
  });
});
