import fc from 'fast-check';
import { parseQueueName } from './queue-name';

describe('The name of a queue', () => {
  it.each([
    ['reports', { prefix: null, name: 'reports' }],
    ['{reports}', { prefix: null, name: '{reports}' }],
    ['crm:reports', { prefix: 'crm', name: 'reports' }],
    ['crm:eu:reports', { prefix: 'crm:eu', name: 'reports' }],
    ['{crm}:mail/outgoing', { prefix: '{crm}', name: 'mail/outgoing' }],
    ['send-0', { prefix: null, name: 'send-0' }],
  ])('may be %p', (text, expected) => {
    expect(parseQueueName(text)).toEqual(expected);
  });

  it.each(['', ':', 'crm:', ':reports', 'two words', 'tab\t', 'é', 'redis://host:name', 'a'.repeat(81)])(
    'is not %p',
    (text) => {
      expect(parseQueueName(text)).toBeNull();
    },
  );

  it.each(['{fan-out}', '{send-0}', '{send-17}', 'bull:{send-0}', 'any:{fan-out}'])(
    'is not %p, which is a queue of our own',
    (text) => {
      expect(parseQueueName(text)).toBeNull();
    },
  );

  it('comes out of prefix and name as it went in', () => {
    const part = fc.stringMatching(/^[a-z{}._-]{1,20}$/);
    fc.assert(
      fc.property(part, part, (prefix, name) => {
        expect(parseQueueName(`${prefix}:${name}`)).toEqual({ prefix, name });
      }),
    );
  });
});
