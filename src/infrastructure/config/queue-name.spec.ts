import fc from 'fast-check';
import { parseQueueName } from './queue-name';

describe('parseQueueName', () => {
  it.each([
    ['reports', { prefix: null, name: 'reports' }],
    ['{reports}', { prefix: null, name: '{reports}' }],
    ['crm:reports', { prefix: 'crm', name: 'reports' }],
    ['crm:eu:reports', { prefix: 'crm:eu', name: 'reports' }],
    ['{crm}:mail/outgoing', { prefix: '{crm}', name: 'mail/outgoing' }],
    ['send-0', { prefix: null, name: 'send-0' }],
  ])('accepts %p', (text, expected) => {
    expect(parseQueueName(text)).toEqual(expected);
  });

  it.each(['', ':', 'crm:', ':reports', 'two words', 'tab\t', 'é', 'redis://host:name', 'a'.repeat(81)])(
    'rejects %p',
    (text) => {
      expect(parseQueueName(text)).toBeNull();
    },
  );

  it.each(['{fan-out}', '{send-0}', '{send-17}', 'bull:{send-0}', 'any:{fan-out}'])(
    'rejects %p, which is a queue of the service',
    (text) => {
      expect(parseQueueName(text)).toBeNull();
    },
  );

  it('splits a text into prefix and name', () => {
    const part = fc.stringMatching(/^[a-z{}._-]{1,20}$/);
    fc.assert(
      fc.property(part, part, (prefix, name) => {
        expect(parseQueueName(`${prefix}:${name}`)).toEqual({ prefix, name });
      }),
    );
  });
});
