import { bodyOf, type Entered } from './new-body';

const entered = (changes: Partial<Entered>): Entered => ({
  ...{ kind: 'push', url: 'https://example.com/', events: ['job.*'], secret: '', description: '', idleSeconds: '' },
  ...changes,
});

describe('The request that creates a webhook', () => {
  it.each([
    ['a URL', {}, { url: 'https://example.com/', events: ['job.*'] }],
    [
      'a secret and a description',
      { secret: 'own', description: 'CRM' },
      { url: 'https://example.com/', events: ['job.*'], secret: 'own', description: 'CRM' },
    ],
    ['no idle time of a push webhook', { idleSeconds: '60' }, { url: 'https://example.com/', events: ['job.*'] }],
    ['no URL of a pull webhook', { kind: 'pull' }, { kind: 'pull', events: ['job.*'] }],
    ['the idle time', { kind: 'pull', idleSeconds: ' 60' }, { kind: 'pull', idleSeconds: 60, events: ['job.*'] }],
    [
      'a text that is no number',
      { kind: 'pull', idleSeconds: '1h' },
      { kind: 'pull', idleSeconds: NaN, events: ['job.*'] },
    ],
  ] as [string, Partial<Entered>, object][])('has %s', (_, changes, body) => {
    expect(bodyOf(entered(changes))).toEqual(body);
  });
});
